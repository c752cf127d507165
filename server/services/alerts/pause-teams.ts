import type { Deps } from "#server/deps";
import { AppError } from "#server/platform/errors";
import { pauseTeam } from "../pauses/pause";
import { formatRate, formatShare, listTeamRates, type Recipients, rateOf } from "./rates";

/**
 * With less than this in 24 hours, no team is paused. Higher than for an alert: a pause stops all email of
 * the team.
 */
export const PAUSE_MINIMUM = { recipients: 200, bounced: 10, complained: 5 } as const;

const RATES = [
  ["bounced", "bounceShare", "Bounce rate"],
  ["complained", "complaintShare", "Complaint rate"],
] as const;

/**
 * Pauses the teams whose bounce or complaint rate of the last 24 hours is above the operator's limit. Their
 * email is accepted and stays queued until an operator resumes sending. Nothing while no limit is set.
 */
export async function pauseTeamsAboveRates(deps: Deps): Promise<void> {
  const { bounceShare, complaintShare } = deps.policy.teamPause;
  if (bounceShare === null && complaintShare === null) return;
  for (const team of await listTeamRates(deps.hot)) {
    const reason = findReason(deps, team);
    if (reason === null) continue;
    await pauseTeam(deps, { teamId: team.teamId, reason, by: { kind: "system" } }).catch((error) => {
      // The team was deleted meanwhile.
      if (!(error instanceof AppError && error.code === "not_found")) throw error;
    });
  }
}

function findReason({ policy: { teamPause } }: Deps, team: Recipients): string | null {
  for (const [result, limitOf, name] of RATES) {
    const limit = teamPause[limitOf];
    const rate = rateOf(team, result);
    const isMeaningful = rate.recipients >= PAUSE_MINIMUM.recipients && rate.count >= PAUSE_MINIMUM[result];
    if (limit !== null && isMeaningful && rate.share > limit)
      return `${name} above the operator's limit of ${formatShare(limit)}: ${formatRate(rate)} in the last 24 hours.`;
  }
  return null;
}
