import { SIGN_IN_PROVIDERS, type SignInProvider } from "#db/schema/account";
import type { ProviderClients } from "#server/auth/provider-clients";
import { ACCOUNT_EVENTS, type AccountEvent, sayDevice } from "#server/services/account/events";
import type { Factors } from "#server/services/account/factors";
import { WAYS } from "#server/services/account/let-in";
import type { LinkedAccount } from "#server/services/account/linked-accounts";
import type { Passkey } from "#server/services/account/passkeys";
import { proofOf } from "#server/services/account/prove";
import type { OpenSession } from "#server/services/account/sessions";

/** How a person signs in, without any secret. Times are ISO 8601. */
export function viewLocks(locks: {
  hasPassword: boolean;
  factors: Factors;
  passkeys: Passkey[];
  arePasskeysPossible: boolean;
  linked: LinkedAccount[];
  providers: ProviderClients;
}) {
  const { hasPassword, factors, linked, providers } = locks;
  const accounts = SIGN_IN_PROVIDERS.flatMap((provider) => {
    const account = linked.find((each) => each.provider === provider);
    return account || providers[provider] ? [viewProvider(provider, account)] : [];
  });
  return {
    hasPassword,
    /** What is asked for before a lock is changed. */
    proof: proofOf({ hasPassword, factors }),
    hasAuthenticator: factors.hasTotp,
    recoveryCodesLeft: factors.recoveryCodesLeft,
    arePasskeysPossible: locks.arePasskeysPossible,
    passkeys: locks.passkeys.map(({ createdAt, lastUsedAt, ...passkey }) => ({
      ...passkey,
      createdAt: createdAt.toISOString(),
      lastUsedAt: lastUsedAt?.toISOString() ?? null,
    })),
    /** Of the providers that are set up, and of those that were when they were linked. */
    accounts,
  };
}
export type LocksView = ReturnType<typeof viewLocks>;

const viewProvider = (provider: SignInProvider, account: LinkedAccount | undefined) => ({
  provider,
  name: WAYS[provider],
  linked: account
    ? {
        email: account.email,
        createdAt: account.createdAt.toISOString(),
        lastUsedAt: account.lastUsedAt.toISOString(),
      }
    : null,
});

/** One open session; `isThis` for the one that asks. */
export const viewSession = (session: OpenSession, thisId: string) => ({
  ...session,
  createdAt: session.createdAt.toISOString(),
  lastSeenAt: session.lastSeenAt.toISOString(),
  isThis: session.id === thisId,
});
export type SessionView = ReturnType<typeof viewSession>;

/** One thing that happened to an account, in words. */
export const viewAccountEvent = ({ id, kind, subject, address, userAgent, createdAt }: AccountEvent) => ({
  id,
  kind,
  what: kind in ACCOUNT_EVENTS ? ACCOUNT_EVENTS[kind as keyof typeof ACCOUNT_EVENTS] : kind,
  subject,
  address,
  agent: userAgent === null ? null : sayDevice(userAgent),
  at: createdAt.toISOString(),
});
export type AccountEventView = ReturnType<typeof viewAccountEvent>;
