import { and, asc, eq, sql } from "drizzle-orm";
import { accounts, type SignInProvider } from "#db/schema/account";
import { users } from "#db/schema/teams";
import type { Deps } from "#server/deps";
import { notFound } from "#server/platform/errors";
import type { Visitor } from "#server/platform/http/visitor";
import { newId } from "#server/platform/ids";
import { acceptForVerifiedAddress } from "../members/invitations/accept";
import { recordAccountEvent } from "../people/events";
import { lockUser } from "../people/lock";
import { findUser, type Owner, USER_COLUMNS, type User } from "../people/users";
import { markAddressVerified } from "./mark-address-verified";
import { requireSignInMethod } from "./reauthenticate";
import { type Admission, admit } from "./sign-in/admit";
import { SIGN_IN_METHOD_NAMES } from "./sign-in/complete-sign-in";

/** A user as identified by a provider. */
export type ProviderAccount = {
  provider: SignInProvider;
  /**
   * The issuer, if the operator configures it: ids are unique only within it. Null for a provider with one
   * issuer.
   */
  issuer: string | null;
  /** The provider's id of the account, which never changes. */
  accountId: string;
  /** An email address that the provider has verified, or null. */
  email: string | null;
  name: string | null;
};

/**
 * Signs a user in with a provider account. A linked account signs in the user it is linked to, even if its
 * email address has changed. An account that is not linked yet is linked to the user with its verified
 * address, which also verifies that address (`markAddressVerified`). If there is no such user, one is created
 * if an invitation for the address is pending. All other accounts are rejected with the same result.
 */
export async function signInByProvider(
  deps: Deps,
  account: ProviderAccount,
  visitor: Visitor,
): Promise<Admission | { kind: "rejected" }> {
  const user = await deps.db.transaction(async (tx) => {
    const txDeps = { ...deps, db: tx };
    return (await findLinked(txDeps, account)) ?? (await link(txDeps, account, visitor));
  });
  return user ? admit(deps, { user, method: account.provider, visitor }) : { kind: "rejected" };
}

/** The id under which the account is stored. An issuer URL contains no space. */
const storedId = ({ issuer, accountId }: ProviderAccount): string =>
  issuer === null ? accountId : `${issuer} ${accountId}`;

async function findLinked({ db }: Deps, account: ProviderAccount): Promise<User | null> {
  const [user] = await db
    .update(accounts)
    .set({ lastUsedAt: sql`now()` })
    .from(users)
    .where(
      and(
        eq(accounts.provider, account.provider),
        eq(accounts.providerAccountId, storedId(account)),
        eq(users.id, accounts.userId),
      ),
    )
    .returning(USER_COLUMNS);
  return user ?? null;
}

async function link(deps: Deps, account: ProviderAccount, visitor: Visitor): Promise<User | null> {
  const { provider, issuer, email, name } = account;
  if (email === null) return null;
  const user =
    (await findUser(deps, email)) ??
    (await acceptForVerifiedAddress(deps, { email, name, requestId: newId() }));
  if (!user) return null;
  // An account at a former issuer can no longer sign in, so the account at the current one replaces it.
  if (issuer !== null)
    await deps.db
      .delete(accounts)
      .where(
        and(
          eq(accounts.provider, provider),
          eq(accounts.userId, user.id),
          sql`not starts_with(${accounts.providerAccountId}, ${`${issuer} `})`,
        ),
      );
  const linked = await deps.db
    .insert(accounts)
    .values({ provider, providerAccountId: storedId(account), userId: user.id, email })
    // The user already has a linked account of this provider, and only that one signs in.
    .onConflictDoNothing()
    .returning({ userId: accounts.userId });
  if (linked.length === 0) return null;
  await markAddressVerified(deps.db, { userId: user.id, visitor });
  const subject = SIGN_IN_METHOD_NAMES[provider];
  await recordAccountEvent(deps.db, { userId: user.id, kind: "account_linked", subject, visitor });
  return user;
}

export type LinkedAccount = Omit<typeof accounts.$inferSelect, "providerAccountId" | "userId">;

/** The provider accounts that are linked to the user. */
export async function listLinkedAccounts(deps: Deps, userId: string): Promise<LinkedAccount[]> {
  return deps.db
    .select({
      provider: accounts.provider,
      email: accounts.email,
      createdAt: accounts.createdAt,
      lastUsedAt: accounts.lastUsedAt,
    })
    .from(accounts)
    .where(eq(accounts.userId, userId))
    .orderBy(asc(accounts.provider));
}

/**
 * Unlinks a provider account. AppError `not_found` if none is linked, `conflict` if it is the only sign-in
 * method that does not depend on email. A provider account with the owner's address is linked again when the
 * owner signs in with it.
 */
export async function unlinkAccount(deps: Deps, owner: Owner, provider: SignInProvider): Promise<void> {
  const userId = owner.user.id;
  await deps.db.transaction(async (tx) => {
    await lockUser(tx, userId);
    const removed = await tx
      .delete(accounts)
      .where(and(eq(accounts.userId, userId), eq(accounts.provider, provider)))
      .returning({ provider: accounts.provider });
    if (removed.length === 0) throw notFound("Linked account");
    await requireSignInMethod(tx, userId);
    const subject = SIGN_IN_METHOD_NAMES[provider];
    await recordAccountEvent(tx, { userId, kind: "account_unlinked", subject, visitor: owner.visitor });
  });
}
