import type { HotSql } from "#db/client";
import type { PauseRule } from "#db/schema/deliveries";
import { runPrepared } from "#db/statement";
import type { QueueScope } from "./scope";

/** A pause that applies now. */
export type ActivePause = QueueScope & { id: string; reason: string };

/** The pauses of the whole installation, of these teams and of their domains; of all teams without `teamIds`. */
export async function readActivePauses(hot: HotSql, teamIds?: readonly string[]): Promise<ActivePause[]> {
  return runPrepared<ActivePause>(hot, READ_ACTIVE, [teamIds ?? null]);
}

const READ_ACTIVE = `
select id, team_id as "teamId", domain, reason from queue_pauses
where lifted_at is null and ($1::uuid[] is null or team_id is null or team_id = any($1::uuid[]))`;

/** The widest pause of email from this domain of the team; null if it is sent. */
export function findPause(
  pauses: readonly ActivePause[],
  { teamId, senderDomain }: { teamId: string; senderDomain: string },
): (ActivePause & { rule: PauseRule }) | null {
  const ofTeam = pauses.filter((pause) => pause.teamId === teamId);
  const pause =
    pauses.find((each) => each.teamId === null) ??
    ofTeam.find(({ domain }) => domain === null) ??
    ofTeam.find(({ domain }) => domain === senderDomain);
  return pause ? { ...pause, rule: ruleOf(pause) } : null;
}

const ruleOf = ({ teamId, domain }: QueueScope): PauseRule =>
  teamId === null ? "installation_paused" : domain === null ? "team_paused" : "domain_paused";
