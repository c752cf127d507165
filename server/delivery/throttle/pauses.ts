import { performance } from "node:perf_hooks";
import type { HotSql } from "#db/client";
import { errorFacts, type Log } from "#server/platform/log";
import { type ActivePause, findPause, listActivePauses } from "#server/services/pauses/read";
import type { StoredMessage } from "../attempt/stored-messages";
import type { Requeue } from "../queue/requeue";
import { queueHead } from "./postpone-backlog";

/**
 * No dialogue starts on pauses read longer ago than this: within it, a new pause takes effect in every
 * worker.
 */
const freshMs = 1_000;

/**
 * Finds the pause that an email must wait for. Claims already omit the email of paused teams and of a paused
 * installation; this check also covers email that was claimed before, and paused domains. While the database
 * does not respond, the last known pauses apply: without it, the leases of this worker end soon, and no
 * dialogue starts.
 */
export function createPauseCheck({ hot, log }: { hot: HotSql; log: Log }, moveBatch: number) {
  let known: readonly ActivePause[] = [];
  let readAtMs = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | null = null;

  async function refresh(): Promise<void> {
    const startedAtMs = performance.now();
    try {
      known = await listActivePauses(hot);
      readAtMs = startedAtMs;
    } catch (error) {
      if (readAtMs === Number.NEGATIVE_INFINITY) throw error;
      log.warn("queue.pauses_unread", errorFacts(error));
    } finally {
      reading = null;
    }
  }

  return async (email: Pick<StoredMessage, "teamId" | "senderDomain">): Promise<Requeue | null> => {
    if (performance.now() - readAtMs > freshMs) {
      reading ??= refresh();
      await reading;
    }
    const pause = findPause(known, email);
    if (!pause) return null;
    const { id, rule, teamId, domain } = pause;
    if (teamId === null || domain === null) return { rule, waitMs: 0 };
    const move = () => postponePaused(hot, { pauseId: id, teamId, domain }, moveBatch);
    return { rule, waitMs: 0, pauseId: id, backlog: { name: `pause ${id}`, move } };
  };
}

/**
 * Postpones the next due deliveries of a paused domain until the pause ends. They then block no other email
 * of the team and are not claimed only to be released. Reads up to `limit` rows of each priority. Returns how
 * many were postponed.
 */
async function postponePaused(
  hot: HotSql,
  { pauseId, teamId, domain }: { pauseId: string; teamId: string; domain: string },
  limit: number,
): Promise<number> {
  const { count } = await hot.unsafe(POSTPONE_PAUSED, [teamId, domain, limit, pauseId]);
  return count;
}

// The lock makes a resume wait for this statement, or this statement sees that the pause was lifted. Without
// it, rows could be postponed after the resume, and stay so.
const POSTPONE_PAUSED = `
with pause as materialized (
  select id from queue_pauses where id = $4 and lifted_at is null for share
), head as materialized (${queueHead("$1", "$3")}
  where exists (select from pause)
), mine as materialized (
  select d.team_id, d.email_id, d.id
  from head h join deliveries d using (team_id, email_id, id) join emails e on e.team_id = h.team_id and e.id = h.email_id
  where d.status = 'queued' and d.due_at <= now() and e.sender_domain = $2
  order by d.id for no key update of d skip locked
)
update deliveries d set due_at = 'infinity', wait_rule = 'domain_paused', updated_at = now() from mine
where (d.team_id, d.email_id, d.id) = (mine.team_id, mine.email_id, mine.id)`;
