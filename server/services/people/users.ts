import { asc, eq, type SQL, sql } from "drizzle-orm";
import type { Db } from "#db/client";
import { isUniqueViolation } from "#db/faults";
import { twoFactorChallenges } from "#db/schema/account";
import { memberships, type Role, sessions, teams, users } from "#db/schema/teams";
import type { Ctx, Deps } from "#server/deps";
import { parseMailbox } from "#server/mail/address/address";
import { AppError, notFound } from "#server/platform/errors";
import type { Visitor } from "#server/platform/http/visitor";
import { newId } from "#server/platform/ids";
import { hashPassword, isPasswordCorrect } from "#server/platform/secrets/passwords";
import { recordAudit } from "../audit/record";
import { recordAccountEvent } from "./events";
import { endSessionsExcept } from "./lock";
import { revokeSignInTokens } from "./sign-in-tokens";

export type User = { id: string; email: string; name: string | null };

/** A user who changes their own account, and the session and visitor of the request. */
export type Owner = { user: User; sessionId: string; visitor: Visitor };

export type NewUser = { email: string; password: string; name?: string; teamId: string; role: Role };

const PASSWORD_CHARS = { min: 12, max: 256 } as const;

/** A validated user that is not stored yet. The password is hashed before any transaction starts. */
export type PreparedUser = User & { passwordHash: string };

/**
 * Validates a new user and hashes the password. AppError `invalid` for an invalid email address or password.
 */
export async function prepareUser(input: {
  email: string;
  password: string;
  name?: string;
}): Promise<PreparedUser> {
  const email = parseUserAddress(input.email);
  const passwordHash = await hashNewPassword(input.password);
  return { id: newId(), email, name: input.name?.trim() || null, passwordHash };
}

/**
 * Stores a user. `isAddressVerified`: the operator created the user, or the user opened a link that was sent
 * only to the mailbox (see `markAddressVerified`). `isOperatorIfFirst`: the first user of the installation
 * becomes its operator. AppError `conflict` if the address has a user already, which stays unchanged.
 */
export async function insertUser(
  tx: Db,
  user: PreparedUser,
  {
    isAddressVerified,
    isOperatorIfFirst = false,
  }: { isAddressVerified: boolean; isOperatorIfFirst?: boolean },
): Promise<User> {
  try {
    await tx.insert(users).values({
      ...user,
      addressVerifiedAt: isAddressVerified ? sql`now()` : null,
      isOperator: isOperatorIfFirst ? sql`not exists (select from ${users})` : false,
    });
  } catch (error) {
    if (isUniqueViolation(error, "users_email_key"))
      throw new AppError("conflict", `A user with the address ${user.email} already exists.`);
    throw error;
  }
  return { id: user.id, email: user.email, name: user.name };
}

/**
 * Creates, as the operator, a user with a password in one team. Throws the errors of `prepareUser` and
 * `insertUser`.
 */
export async function createUser(deps: Deps, input: NewUser): Promise<User> {
  const user = await prepareUser(input);
  return deps.db.transaction((tx) => insertMember({ ...deps, db: tx }, user, input));
}

/** Stores, as the operator, a user and their membership of a team. `deps.db` must be a transaction. */
export async function insertMember(
  deps: Deps,
  user: PreparedUser,
  { teamId, role }: Pick<NewUser, "teamId" | "role">,
): Promise<User> {
  const created = await insertUser(deps.db, user, { isAddressVerified: true, isOperatorIfFirst: true });
  const { id, email: name } = created;
  await deps.db.insert(memberships).values({ teamId, userId: id, role });
  const ctx: Ctx = { ...deps, teamId, actor: { kind: "operator" }, requestId: newId() };
  await recordAudit(deps.db, ctx, { action: "member.added", subject: { id, name }, detail: { role } });
  return created;
}

/** The columns of a `User`. */
export const USER_COLUMNS = { id: users.id, email: users.email, name: users.name };

/** The user with this email address (case-insensitive), or null. */
export const findUser = (deps: Deps, email: string): Promise<User | null> =>
  selectUser(deps, eq(users.email, foldAddress(email)));

export const findUserById = (deps: Pick<Deps, "db">, id: string): Promise<User | null> =>
  selectUser(deps, eq(users.id, id));

async function selectUser({ db }: Pick<Deps, "db">, is: SQL): Promise<User | null> {
  const [user] = await db.select(USER_COLUMNS).from(users).where(is);
  return user ?? null;
}

/** A user with their teams, in the order of joining. */
export type ListedUser = User & {
  teams: { id: string; name: string; role: Role }[];
  /** Time of the user's last request, to the minute; null if the user has never signed in. */
  lastSeenAt: Date | null;
  createdAt: Date;
};

/**
 * All users, or the members of one team, oldest first. For the operator only: users are not scoped to a team.
 */
export async function listUsers(deps: Deps, teamId: string | null): Promise<ListedUser[]> {
  return deps.db
    .select({
      ...USER_COLUMNS,
      teams: sql<ListedUser["teams"]>`(
        select coalesce(json_agg(json_build_object('id', t.id, 'name', t.name, 'role', m.role)
          order by m.created_at, t.id), '[]') from ${memberships} m join ${teams} t on t.id = m.team_id
        where m.user_id = users.id)`,
      lastSeenAt: sql`(select max(s.last_seen_at) from ${sessions} s where s.user_id = users.id)`.mapWith(
        sessions.lastSeenAt,
      ),
      createdAt: users.createdAt,
    })
    .from(users)
    .where(
      teamId === null
        ? undefined
        : sql`exists (select from ${memberships} m where m.team_id = ${teamId} and m.user_id = users.id)`,
    )
    .orderBy(asc(users.createdAt), asc(users.id));
}

/** The user if the password is correct, else null. An unknown address takes as long as a wrong password. */
export const verifyPassword = async (deps: Deps, input: { email: string; password: string }) =>
  (await authenticateByPassword(deps, input))?.user ?? null;

/**
 * Like `verifyPassword`, but also returns the hash that matched. Verification is slow, so the caller must
 * lock the user and compare the hash again: the password may have changed since.
 */
export async function authenticateByPassword(
  deps: Deps,
  input: { email: string; password: string },
): Promise<{ user: User; passwordHash: string } | null> {
  const [found] = await deps.db
    .select({ ...USER_COLUMNS, passwordHash: users.passwordHash })
    .from(users)
    .where(eq(users.email, foldAddress(input.email)));
  // No stored password is longer, and a caller must not control the cost of hashing.
  const password = input.password.slice(0, PASSWORD_CHARS.max + 1);
  const isRight = await isPasswordCorrect(password, found?.passwordHash ?? null);
  if (!isRight || !found?.passwordHash) return null;
  const { passwordHash, ...user } = found;
  return { user, passwordHash };
}

/** Sets a user's password, as the operator. Ends all of the user's sessions and revokes their links. */
export async function setPassword(deps: Deps, input: { userId: string; password: string }): Promise<void> {
  const { userId } = input;
  const passwordHash = await hashNewPassword(input.password);
  await deps.db.transaction(async (tx) => {
    await writePassword(tx, { userId, passwordHash });
    await recordAccountEvent(tx, { userId, kind: "password_set_by_operator", visitor: null });
  });
}

/** The hash to store for a new password. AppError `invalid` for a password of the wrong length. */
export async function hashNewPassword(password: string): Promise<string> {
  const { min, max } = PASSWORD_CHARS;
  const length = [...password].length;
  if (length < min || password.length > max)
    throw new AppError("invalid", `The password has ${length} characters. Use ${min} to ${max} characters.`);
  return hashPassword(password);
}

/**
 * Replaces a user's password. The caller hashes it before the transaction, because hashing is slow. Ends all
 * of the user's sessions except `keptSession`, and deletes open 2FA challenges and revokes all links.
 */
export async function writePassword(
  tx: Db,
  input: { userId: string; passwordHash: string; keptSession?: string | null },
): Promise<void> {
  const { userId, passwordHash, keptSession = null } = input;
  const changed = await tx
    .update(users)
    .set({ passwordHash })
    .where(eq(users.id, userId))
    .returning({ id: users.id });
  if (changed.length === 0) throw notFound("User");
  await endSessionsExcept(tx, userId, keptSession);
  await tx.delete(twoFactorChallenges).where(eq(twoFactorChallenges.userId, userId));
  await revokeSignInTokens(tx, userId);
}

/** Changes a user's name; null removes it. */
export async function renameUser(deps: Deps, userId: string, name: string | null): Promise<void> {
  const renamed = await deps.db
    .update(users)
    .set({ name })
    .where(eq(users.id, userId))
    .returning({ id: users.id });
  if (renamed.length === 0) throw notFound("User");
}

/**
 * An email address as it is stored. Other text is shortened and stripped of NUL, which PostgreSQL does not
 * accept; it matches no user.
 */
export function foldAddress(text: string): string {
  const read = parseMailbox(text.trim());
  return read.ok ? read.mailbox.address.toLowerCase() : text.replaceAll("\0", "").slice(0, 320).toLowerCase();
}

/** Parses one email address, in lower case. AppError `invalid` for anything else. */
export function parseUserAddress(text: string): string {
  const read = parseMailbox(text.trim());
  if (!read.ok || read.mailbox.name !== null)
    throw new AppError("invalid", "Enter one email address, such as you@example.com.");
  return read.mailbox.address.toLowerCase();
}
