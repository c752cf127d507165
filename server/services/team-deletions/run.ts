import type { HotSql } from "#db/client";
import { isDatabaseUnreachable } from "#db/faults";
import type { Deps } from "#server/deps";
import { errorFacts } from "#server/platform/log";

/** Values of the column that one statement deletes. */
const batchMax = 500;
/** Steps for one team before the next team. */
const stepsPerTeam = 50;
/** A step that failed is repeated after this time. Meanwhile other teams are deleted. */
const retryMinutes = 5;
const faultCharsMax = 500;

/**
 * Every table of a team, children first, with the column by which its rows are read in batches. Rows are
 * deleted by the team and this column, so that no statement depends on foreign keys or reads a whole table.
 */
export const TEAM_TABLES = [
  ["webhook_attempts", "delivery_id"],
  ["webhook_deliveries", "id"],
  ["webhooks", "id"],
  ["email_events", "email_id"],
  ["queue", "id"],
  ["deliveries", "email_id"],
  ["captured_messages", "email_id"],
  ["return_copies", "email_id"],
  ["attachments", "email_id"],
  ["email_bodies", "email_id"],
  ["emails", "id"],
  ["idempotency_keys", "key"],
  ["api_requests", "id"],
  ["suppressions", "id"],
  ["template_versions", "template_id"],
  ["templates", "id"],
  ["relays", "id"],
  ["api_key_domains", "api_key_id"],
  ["api_keys", "id"],
  ["dkim_keys", "domain_id"],
  ["tracking_hosts", "domain_id"],
  ["domain_report_counts", "source"],
  ["domain_reports", "report_hash"],
  ["domains", "id"],
  ["recipient_counts", "starts_at"],
  ["recipient_totals", "starts_at"],
  ["metrics_progress", "team_id"],
  ["sending_days", "day"],
  ["queue_pauses", "id"],
  ["alerts", "id"],
  ["retention", "team_id"],
  ["erasures", "id"],
  ["invitations", "id"],
  ["memberships", "user_id"],
  ["audit_log", "id"],
  // Only processes of release 0.2.0 write these, during an upgrade.
  ["usage_days", "day"],
  ["usage_progress", "team_id"],
] as const;

type Deletion = { id: string; teamId: string };

/**
 * Deletes the teams whose waiting period is over, in small transactions, and stops between them when
 * `shouldContinue` returns false. An interrupted deletion continues with what is left. A step that fails is
 * recorded with the reason and repeated later. The record with the counts remains. Users are not deleted. If
 * none is due, it costs one index lookup.
 */
export async function deleteDueTeams(
  deps: Pick<Deps, "hot" | "log">,
  shouldContinue: () => boolean,
): Promise<void> {
  while (shouldContinue()) {
    const deletion = await startDueDeletion(deps.hot);
    if (!deletion) return;
    const fault = await deleteBatches(deps, deletion, shouldContinue);
    const waitMinutes = fault === null ? 0 : retryMinutes;
    await deps.hot`
      update team_deletions set fault = ${fault}, next_at = now() + ${waitMinutes} * interval '1 minute'
      where id = ${deletion.id}`;
  }
}

/** Returns why a step failed; null if none did. Throws if the database is not available. */
async function deleteBatches(
  deps: Pick<Deps, "hot" | "log">,
  deletion: Deletion,
  shouldContinue: () => boolean,
): Promise<string | null> {
  try {
    for (let n = 0; n < stepsPerTeam && shouldContinue(); n++)
      if (!(await deleteBatch(deps, deletion))) break;
    return null;
  } catch (error) {
    if (isDatabaseUnreachable(error)) throw error;
    deps.log.error("team.deletion_failed", { teamId: deletion.teamId, ...errorFacts(error) });
    return (error instanceof Error ? error.message : String(error)).slice(0, faultCharsMax);
  }
}

async function startDueDeletion(hot: HotSql): Promise<Deletion | undefined> {
  const [deletion] = await hot<Deletion[]>`
    update team_deletions set started_at = coalesce(started_at, now())
    where id = (select id from team_deletions
      where canceled_at is null and ended_at is null and deletes_at <= now() and next_at <= now()
      order by deletes_at limit 1 for update skip locked)
    returning id, team_id as "teamId"`;
  return deletion;
}

/**
 * Deletes one batch of the first table that has rows, and then the team. Returns whether more may be left.
 */
async function deleteBatch({ hot, log }: Pick<Deps, "hot" | "log">, deletion: Deletion): Promise<boolean> {
  const { id, teamId } = deletion;
  return hot.begin(async (tx) => {
    const [row] = await tx<{ counts: Record<string, number> }[]>`
      select counts from team_deletions where id = ${id} and ended_at is null for update`;
    if (!row) return false;
    const addCount = (table: string, count: number) => tx`
      update team_deletions set counts = ${JSON.stringify({ ...row.counts, [table]: (row.counts[table] ?? 0) + count })}::text::jsonb
      where id = ${id}`;
    for (const [table, column] of TEAM_TABLES) {
      const { count } = await tx.unsafe(
        `delete from ${table} where team_id = $1 and ${column} in (
           select ${column} from ${table} where team_id = $1 order by ${column} limit ${batchMax})`,
        [teamId],
      );
      if (count === 0) continue;
      await addCount(table, count);
      return true;
    }
    await tx`delete from teams where id = ${teamId}`;
    await tx`update team_deletions set ended_at = now(), fault = null where id = ${id}`;
    log.warn("team.deleted", { teamId, ...row.counts });
    return false;
  });
}
