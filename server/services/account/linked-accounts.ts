import { and, asc, eq, sql } from "drizzle-orm";
import { accounts, type SignInProvider } from "#db/schema/account";
import { users } from "#db/schema/teams";
import type { Deps } from "#server/deps";
import { notFound } from "#server/errors";
import { newId } from "#server/ids";
import type { Visitor } from "#server/visitor";
import { acceptAsVerified } from "../invitations/accept-verified";
import { findUser, type User } from "../users";
import { type Admission, admit } from "./admit";
import { recordAccountEvent } from "./events";
import { holdUser } from "./factors";
import { WAYS } from "./let-in";
import type { Owner } from "./prove";
import { proveAddress } from "./prove-address";
import { requireWayIn } from "./way-in";

/** Who a provider says somebody is. */
export type ProviderAccount = {
  provider: SignInProvider;
  /** The provider's own name for the account, which never changes. */
  accountId: string;
  /** An address that the provider has verified; null where there is none. */
  email: string | null;
  name: string | null;
};

/**
 * Signs somebody in by their account elsewhere. A linked account opens the person it was linked to, whatever its address
 * is by now. Any other is linked to the person who has its verified address, which shows whose that is (`proveAddress`);
 * where nobody has it, a person is made if an invitation for that address is open. Everybody else is refused, all alike.
 */
export async function signInByProvider(
  deps: Deps,
  account: ProviderAccount,
  visitor: Visitor,
): Promise<Admission | { kind: "refused" }> {
  const user = await deps.db.transaction(async (tx) => {
    const inside = { ...deps, db: tx };
    return (await findLinked(inside, account)) ?? (await link(inside, account, visitor));
  });
  return user ? admit(deps, { user, way: account.provider, visitor }) : { kind: "refused" };
}

async function findLinked({ db }: Deps, { provider, accountId }: ProviderAccount): Promise<User | null> {
  const [user] = await db
    .update(accounts)
    .set({ lastUsedAt: sql`now()` })
    .from(users)
    .where(
      and(
        eq(accounts.provider, provider),
        eq(accounts.providerAccountId, accountId),
        eq(users.id, accounts.userId),
      ),
    )
    .returning({ id: users.id, email: users.email, name: users.name });
  return user ?? null;
}

async function link(deps: Deps, account: ProviderAccount, visitor: Visitor): Promise<User | null> {
  const { provider, accountId, email, name } = account;
  if (email === null) return null;
  const user =
    (await findUser(deps, email)) ?? (await acceptAsVerified(deps, { email, name, requestId: newId() }));
  if (!user) return null;
  const linked = await deps.db
    .insert(accounts)
    .values({ provider, providerAccountId: accountId, userId: user.id, email })
    // Another account of that provider is linked to them already: it alone opens.
    .onConflictDoNothing()
    .returning({ userId: accounts.userId });
  if (linked.length === 0) return null;
  await proveAddress(deps.db, { userId: user.id, visitor });
  const subject = WAYS[provider];
  await recordAccountEvent(deps.db, { userId: user.id, kind: "account_linked", subject, visitor });
  return user;
}

export type LinkedAccount = {
  provider: SignInProvider;
  email: string;
  createdAt: Date;
  lastUsedAt: Date;
};

/** The accounts elsewhere by which a person signs in. */
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
 * Takes a link away. AppError `not_found` where there is none, `conflict` where it is the last way in that needs no mail.
 * The provider's account with the owner's address can be linked again by signing in with it.
 */
export async function unlinkAccount(deps: Deps, owner: Owner, provider: SignInProvider): Promise<void> {
  const userId = owner.user.id;
  await deps.db.transaction(async (tx) => {
    await holdUser(tx, userId);
    const removed = await tx
      .delete(accounts)
      .where(and(eq(accounts.userId, userId), eq(accounts.provider, provider)))
      .returning({ provider: accounts.provider });
    if (removed.length === 0) throw notFound("Linked account");
    await requireWayIn(tx, userId);
    const subject = WAYS[provider];
    await recordAccountEvent(tx, { userId, kind: "account_unlinked", subject, visitor: owner.visitor });
  });
}
