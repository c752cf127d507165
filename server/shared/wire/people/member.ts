import type { Role } from "#db/schema/teams";

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
export const presentMember = ({ userId, email, name, role, ...member }: Member) => ({
  id: userId,
  email,
  name,
  role,
  is_two_factor_on: member.isTwoFactorOn,
  joined_at: member.joinedAt.toISOString(),
  last_seen_at: member.lastSeenAt?.toISOString() ?? null,
});
