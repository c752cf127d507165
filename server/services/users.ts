import { eq, sql } from "drizzle-orm";
import type { Db } from "#db/client";
import { isUniqueViolation } from "#db/faults";
import { secondSteps } from "#db/schema/account";
import { memberships, type Role, users } from "#db/schema/teams";
import type { Ctx, Deps } from "#server/deps";
import { AppError, notFound } from "#server/errors";
import { newId } from "#server/ids";
import { parseMailbox } from "#server/mail/address";
import { hashPassword, isPasswordRight } from "#server/passwords";
import { recordAccountEvent } from "./account/events";
import { endSessionsBut } from "./account/factors";
import { recordAudit } from "./audit/record";
import { voidSignInTokens } from "./sign-in-tokens";

export type User = { id: string; email: string; name: string | null };

export type NewUser = { email: string; password: string; name?: string; teamId: string; role: Role };

const PASSWORD_CHARS = { min: 12, max: 256 } as const;

/** A person who is not written down yet: judged, and the password hashed, before any transaction begins. */
export type PreparedUser = User & { passwordHash: string };

/** AppError `invalid` for an address or a password that will not do. */
export async function prepareUser(input: {
  email: string;
  password: string;
  name?: string;
}): Promise<PreparedUser> {
  const email = readAddress(input.email);
  checkPassword(input.password);
  const passwordHash = await hashPassword(input.password);
  return { id: newId(), email, name: input.name?.trim() || null, passwordHash };
}

/**
 * Writes a person down. `isAddressProved`: the operator made them, or they came by a link that nobody but their mailbox was
 * told (see `proveAddress`). AppError `conflict` where the address has a user already, who stays as they are.
 */
export async function insertUser(
  tx: Db,
  user: PreparedUser,
  { isAddressProved }: { isAddressProved: boolean },
): Promise<User> {
  try {
    await tx.insert(users).values({ ...user, addressProvedAt: isAddressProved ? sql`now()` : null });
  } catch (error) {
    if (isUniqueViolation(error, "users_email_key"))
      throw new AppError("conflict", `There is a user ${user.email} already.`);
    throw error;
  }
  return { id: user.id, email: user.email, name: user.name };
}

/**
 * Makes, as the operator, a person who signs in by password and is a member of one team. Refused as `prepareUser` and
 * `insertUser` refuse.
 */
export async function createUser(deps: Deps, input: NewUser): Promise<User> {
  const { teamId, role } = input;
  const user = await prepareUser(input);
  return deps.db.transaction(async (tx) => {
    const made = await insertUser(tx, user, { isAddressProved: true });
    await tx.insert(memberships).values({ teamId, userId: made.id, role });
    const ctx: Ctx = { ...deps, teamId, actor: { kind: "operator" }, requestId: newId() };
    await recordAudit(tx, ctx, {
      action: "member.added",
      subject: { id: made.id, name: made.email },
      detail: { role },
    });
    return made;
  });
}

/** The user of that address, in any letter case, or null. */
export async function findUser(deps: Deps, email: string): Promise<User | null> {
  const [user] = await deps.db
    .select({ id: users.id, email: users.email, name: users.name })
    .from(users)
    .where(eq(users.email, foldAddress(email)));
  return user ?? null;
}

/** The user whose password it is, or null. Takes as long for an address that nobody has as for a wrong password. */
export async function verifyPassword(
  deps: Deps,
  input: { email: string; password: string },
): Promise<User | null> {
  return (await judgePassword(deps, input))?.user ?? null;
}

/**
 * The same, with what was judged by: judging takes long, and whoever opens something by it asks, once they hold the user,
 * whether another password was written meanwhile.
 */
export async function judgePassword(
  deps: Deps,
  input: { email: string; password: string },
): Promise<{ user: User; passwordHash: string } | null> {
  const [found] = await deps.db
    .select({ id: users.id, email: users.email, name: users.name, passwordHash: users.passwordHash })
    .from(users)
    .where(eq(users.email, foldAddress(input.email)));
  // Nobody has a longer one, and hashing it would be work that a stranger sets.
  const password = input.password.slice(0, PASSWORD_CHARS.max + 1);
  const isRight = await isPasswordRight(password, found?.passwordHash ?? null);
  if (!isRight || !found?.passwordHash) return null;
  const { passwordHash, ...user } = found;
  return { user, passwordHash };
}

/** Gives a user another password, as the operator, and ends every session and every link that they have. */
export async function setPassword(deps: Deps, input: { userId: string; password: string }): Promise<void> {
  const { userId } = input;
  const passwordHash = await hashNewPassword(input.password);
  await deps.db.transaction(async (tx) => {
    await writePassword(tx, { userId, passwordHash });
    await recordAccountEvent(tx, { userId, kind: "password_set_by_operator", visitor: null });
  });
}

/** A password that somebody chose, as it is kept. AppError `invalid` for one that nobody may have. */
export async function hashNewPassword(password: string): Promise<string> {
  checkPassword(password);
  return hashPassword(password);
}

/**
 * Gives a user another password, hashed before the transaction began, since that takes long. What was opened or begun by the
 * one before ends: their sessions but `keptSession`, first proofs that still owe a second step, and every link.
 */
export async function writePassword(
  tx: Db,
  { userId, passwordHash, keptSession = null }: NewPassword,
): Promise<void> {
  const changed = await tx
    .update(users)
    .set({ passwordHash })
    .where(eq(users.id, userId))
    .returning({ id: users.id });
  if (changed.length === 0) throw notFound("User");
  await endSessionsBut(tx, userId, keptSession);
  await tx.delete(secondSteps).where(eq(secondSteps.userId, userId));
  await voidSignInTokens(tx, userId);
}

type NewPassword = { userId: string; passwordHash: string; keptSession?: string | null };

/** Calls somebody by another name; null for none. */
export async function renameUser(deps: Deps, userId: string, name: string | null): Promise<void> {
  const renamed = await deps.db
    .update(users)
    .set({ name })
    .where(eq(users.id, userId))
    .returning({ id: users.id });
  if (renamed.length === 0) throw notFound("User");
}

/** An address as it is stored. What is no address is nobody's, and still text that PostgreSQL takes, without NUL. */
export function foldAddress(text: string): string {
  const read = parseMailbox(text.trim());
  return read.ok ? read.mailbox.address.toLowerCase() : text.replaceAll("\0", "").slice(0, 320).toLowerCase();
}

/** One address, in lower case. AppError `invalid` for anything else. */
export function readAddress(text: string): string {
  const read = parseMailbox(text.trim());
  if (!read.ok || read.mailbox.name !== null)
    throw new AppError("invalid", "Give one email address, for example you@example.com.");
  return read.mailbox.address.toLowerCase();
}

/** AppError `invalid` for a password that nobody may have. */
export function checkPassword(password: string): void {
  const { min, max } = PASSWORD_CHARS;
  const length = [...password].length;
  if (length < min || password.length > max)
    throw new AppError("invalid", `A password has ${min} to ${max} characters; this one has ${length}.`);
}
