import { eq } from "drizzle-orm";
import { users } from "#db/schema/teams";
import type { Deps } from "#server/deps";
import { deviceOf } from "#server/device";
import { AppError } from "#server/errors";
import type { InProcessStore } from "#server/limits/in-process";
import { parseMailbox } from "#server/mail/address";
import { countedAs, type Visitor } from "#server/visitor";
import { type Admission, admit } from "./account/admit";
import { recordAccountEvent } from "./account/events";
import { proveAddress } from "./account/prove-address";
import { isSignInToken, linkTo, mintSignInToken, readSignInToken, spendSignInToken } from "./sign-in-tokens";
import { canSendSystemMail, queueLink } from "./system-mail/queue";
import { findUser, foldAddress, hashNewPassword, type User, writePassword } from "./users";

/** Calls a minute from one network address, or known browser, sliding: of those that ask for a mail, and of those that bring a link. */
export const LINK_CALLS_PER_MINUTE = { asked: 6, brought: 30 } as const;

type Counting = Deps & { signInTries: InProcessStore };
type TooMany = { kind: "too_many_tries" };

/** Which link is asked for, and what it opens in the end. */
export type MailedLink = "sign_in_link" | "password_reset";

/**
 * Mails a link to whoever has that address here. What is answered, and all that is done for it, is the same whether anybody
 * has: the worker finds out. `not_sent_here` where the installation sends no mail of its own, `invalid` for what is no address.
 */
export async function askForLink(
  deps: Counting,
  input: { kind: MailedLink; email: string; landing: string; visitor: Visitor },
): Promise<{ kind: "asked" | "not_sent_here" | "invalid" } | TooMany> {
  const { visitor, landing } = input;
  const read = parseMailbox(input.email.trim());
  if (!read.ok || read.mailbox.name !== null) return { kind: "invalid" };
  if (!mayCall(deps, "asked", visitor)) return { kind: "too_many_tries" };
  if (!(await canSendSystemMail(deps))) return { kind: "not_sent_here" };
  const details = { landing, device: deviceOf(visitor.userAgent) };
  await queueLink(deps, { kind: input.kind, to: read.mailbox.address.toLowerCase(), details });
  deps.wake();
  return { kind: "asked" };
}

/** Whose a link is that could be spent now, for the page that it opens; nothing is spent. */
export async function lookAtLink(
  deps: Counting,
  input: { kind: MailedLink; token: string; visitor: Visitor },
): Promise<{ kind: "good"; email: string } | { kind: "over" } | TooMany> {
  if (!mayCall(deps, "brought", input.visitor)) return { kind: "too_many_tries" };
  const found = isSignInToken(input.token) ? await readSignInToken(deps, input.kind, input.token) : null;
  const user = found?.userId ? await readUser(deps, found.userId) : null;
  return user ? { kind: "good", email: user.email } : { kind: "over" };
}

/**
 * Signs somebody in by a mailed link, which is spent by that. It is a first proof: where a second one is owed, it opens that
 * step. The first one that comes shows whose the address is (`proveAddress`). Of any number who bring the same link at once,
 * one gets in.
 */
export async function signInByLink(
  deps: Counting,
  input: { token: string; visitor: Visitor },
): Promise<Admission | { kind: "refused" } | TooMany> {
  const { token, visitor } = input;
  if (!mayCall(deps, "brought", visitor)) return { kind: "too_many_tries" };
  if (!isSignInToken(token)) return { kind: "refused" };
  return deps.db.transaction(async (tx) => {
    const inside = { ...deps, db: tx };
    const spent = await spendSignInToken(tx, "sign_in_link", token);
    const user = spent?.userId ? await readUser(inside, spent.userId) : null;
    if (!user) return { kind: "refused" };
    if (spent?.isMailed) await proveAddress(tx, { userId: user.id, visitor });
    return admit(inside, { user, way: "link", visitor });
  });
}

/**
 * Gives whoever a mailed link, or the operator's, belongs to another password. It ends every session of theirs and every other
 * link, and opens none: they sign in with it, and give their second factor where they have one. AppError `invalid` for a
 * password that will not do, which spends nothing.
 */
export async function resetPassword(
  deps: Counting,
  input: { token: string; password: string; visitor: Visitor },
): Promise<{ kind: "done"; email: string } | { kind: "over" } | TooMany> {
  const { token, password, visitor } = input;
  if (!mayCall(deps, "brought", visitor)) return { kind: "too_many_tries" };
  // Asked before the password is hashed, which is work that no stranger is to set, and takes too long for a transaction.
  if (!isSignInToken(token) || !(await readSignInToken(deps, "password_reset", token)))
    return { kind: "over" };
  const passwordHash = await hashNewPassword(password);
  return deps.db.transaction(async (tx) => {
    const spent = await spendSignInToken(tx, "password_reset", token);
    const user = spent?.userId ? await readUser({ db: tx }, spent.userId) : null;
    if (!user) return { kind: "over" };
    if (spent?.isMailed) await proveAddress(tx, { userId: user.id, visitor });
    await writePassword(tx, { userId: user.id, passwordHash });
    await recordAccountEvent(tx, { userId: user.id, kind: "password_reset", visitor });
    return { kind: "done", email: user.email };
  });
}

/** How long a link opens that the operator made, who has to pass it on. */
export const HANDED_LINK_MINUTES = 60;

/**
 * A link to choose another password, for the operator to hand over: it needs no mail, and nothing changes before it is used.
 * AppError `not_found` where nobody has the address.
 */
export async function makeResetLink(deps: Deps, email: string): Promise<{ user: User; link: string }> {
  const user = await findUser(deps, email);
  if (!user) throw new AppError("not_found", `There is no user ${foldAddress(email)}.`);
  const token = await mintSignInToken(deps, {
    purpose: "password_reset",
    userId: user.id,
    minutes: HANDED_LINK_MINUTES,
  });
  return { user, link: linkTo(deps.home, "password_reset", token) };
}

const mayCall = (deps: Counting, what: keyof typeof LINK_CALLS_PER_MINUTE, visitor: Visitor): boolean =>
  deps.signInTries.take(`link-${what}:${countedAs(visitor)}`, LINK_CALLS_PER_MINUTE[what]).allowed;

async function readUser(deps: Pick<Deps, "db">, userId: string): Promise<User | null> {
  const [user] = await deps.db
    .select({ id: users.id, email: users.email, name: users.name })
    .from(users)
    .where(eq(users.id, userId));
  return user ?? null;
}
