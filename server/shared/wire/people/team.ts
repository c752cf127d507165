import type { Role, UnknownPolicy } from "#db/schema/teams";
import { presentRow } from "../shapes";

/** A member of a team. */
export type Member = {
  userId: string;
  email: string;
  name: string | null;
  role: Role;
  /** Whether two-factor authentication (2FA) is on. */
  isTwoFactorOn: boolean;
  joinedAt: Date;
  /** Time of the member's last request, to the minute; null if they have never signed in. */
  lastSeenAt: Date | null;
};

/** A member as in the console. */
export const presentMember = ({ userId, ...member }: Member) => ({ id: userId, ...presentRow(member) });

export type Team = { id: string; name: string };

/**
 * A team's sending rules, and the number of recipients handed over today (UTC), which is counted only if
 * there is a cap.
 */
export type TeamRules = Team & { unknown: UnknownPolicy; dailyCap: number | null; handedOverToday: number };

/** A team with its settings, as in the console and the CLI. */
export const presentTeam = (
  { id, name, unknown, dailyCap, handedOverToday }: TeamRules,
  retention: { bodiesDays: number | null; emailsDays: number | null },
) => ({
  id,
  name,
  unknown,
  daily_cap: dailyCap,
  handed_over_today: dailyCap === null ? null : handedOverToday,
  keep_contents_days: retention.bodiesDays,
  keep_emails_days: retention.emailsDays,
});
