import type { Deps } from "#server/deps";
import { type AlertKind, alertKind, alertKinds, type KindOfAlert } from "./kinds";
import { PAUSE_MINIMUM } from "./pause-teams";
import { formatShare, RATE_LIMITS, rateRecipientsMin } from "./rates";

const listMax = 200;

type AlertRow = {
  id: string;
  kind: AlertKind;
  teamId: string | null;
  teamName: string | null;
  name: string;
  message: string;
  openedAt: Date;
  resolvedAt: Date | null;
};

/** An alert that opened, with the properties of its kind. */
export type Alert = AlertRow & Pick<KindOfAlert, "severity" | "title" | "toDo" | "page">;

/**
 * The alerts of a team, or of the installation and all teams: the open ones or those resolved in the last 30
 * days, the newest first. With `hasInstallation`, those of the installation are among those of the team.
 */
export async function listAlerts(
  { hot }: Pick<Deps, "hot">,
  {
    state,
    teamId,
    hasInstallation = false,
  }: { state: "open" | "resolved"; teamId?: string; hasInstallation?: boolean },
): Promise<Alert[]> {
  const rows = await hot<AlertRow[]>`
    select a.id, a.kind, a.team_id as "teamId", t.name as "teamName", a.name, a.message, a.opened_at as "openedAt",
      a.resolved_at as "resolvedAt"
    from alerts a left join teams t on t.id = a.team_id
    where a.opened_at is not null and (a.resolved_at is null) = ${state === "open"} and a.kind = any(${alertKinds}::text[])
      ${teamId === undefined ? hot`` : hot`and (a.team_id = ${teamId} or (${hasInstallation} and a.team_id is null))`}
    order by coalesce(a.resolved_at, a.opened_at) desc limit ${listMax}`;
  return rows.map((row) => {
    const { severity, title, toDo, page } = alertKind(row.kind);
    return { ...row, severity, title, toDo, page };
  });
}

/** The limits of the rates, as the console shows them. */
export const getThresholds = ({ policy: { teamPause } }: Pick<Deps, "policy">) => ({
  alerts: {
    bounce: formatShare(RATE_LIMITS.bounced.share),
    complaint: formatShare(RATE_LIMITS.complained.share),
    recipientsMin: rateRecipientsMin,
  },
  pauses: {
    bounce: teamPause.bounceShare === null ? null : formatShare(teamPause.bounceShare),
    complaint: teamPause.complaintShare === null ? null : formatShare(teamPause.complaintShare),
    recipientsMin: PAUSE_MINIMUM.recipients,
  },
});
