import type { HotSql } from "#db/client";
import type { PauseRule } from "#db/schema/deliveries";
import { runPrepared } from "#db/statement";
import type { QueueScope } from "./scope";

/** A pause that applies now, or the requested deletion of a team, which stops its email, too. */
export type ActivePause = QueueScope & { id: string; reason: string; isDeletion: boolean };

/**
 * The pauses of the whole installation, of these teams and of their domains, and their deletions; of all
 * teams without `teamIds`.
 */
export async function listActivePauses(hot: HotSql, teamIds?: readonly string[]): Promise<ActivePause[]> {
  return runPrepared<ActivePause>(hot, READ_ACTIVE, [teamIds ?? null]);
}

const READ_ACTIVE = `
select id, team_id as "teamId", domain, reason, false as "isDeletion" from queue_pauses
where lifted_at is null and ($1::uuid[] is null or team_id is null or team_id = any($1::uuid[]))
union all
select id, team_id, null, case when started_at is not null then 'Its deletion has started and cannot be canceled.'
  else 'Its deletion is planned for ' || to_char(deletes_at at time zone 'utc', 'YYYY-MM-DD HH24:MI') ||
    ' UTC. Until then, an owner or an operator can cancel it.' end, true
from team_deletions
where canceled_at is null and ended_at is null and ($1::uuid[] is null or team_id = any($1::uuid[]))`;

/** The widest pause of email from this domain of the team, or its deletion; null if it is sent. */
export function findPause(
  pauses: readonly ActivePause[],
  { teamId, senderDomain }: { teamId: string; senderDomain: string },
): (ActivePause & { rule: PauseRule }) | null {
  const ofTeam = pauses.filter((pause) => pause.teamId === teamId);
  const pause =
    pauses.find((each) => each.teamId === null) ??
    ofTeam.find(({ isDeletion }) => isDeletion) ??
    ofTeam.find(({ domain }) => domain === null) ??
    ofTeam.find(({ domain }) => domain === senderDomain);
  return pause ? { ...pause, rule: ruleOf(pause) } : null;
}

function ruleOf({ teamId, domain, isDeletion }: ActivePause): PauseRule {
  if (isDeletion) return "team_deletion";
  return teamId === null ? "installation_paused" : domain === null ? "team_paused" : "domain_paused";
}
