import { SIGN_IN_PROVIDERS, type SignInProvider } from "#db/schema/account";
import type { ProviderClients } from "#server/auth/provider-clients";
import { SIGN_IN_METHOD_NAMES } from "#server/services/account/complete-sign-in";
import { ACCOUNT_EVENTS, type AccountEvent, formatDevice } from "#server/services/account/events";
import type { Factors } from "#server/services/account/factors/factors";
import type { LinkedAccount } from "#server/services/account/linked-accounts";
import { requiredProof } from "#server/services/account/reauthenticate";
import { type Passkey, presentPasskey } from "#server/shared/wire/people/passkey";
import { type OpenSession, presentSession } from "#server/shared/wire/people/session";

/** The sign-in methods of a user, without secrets. Times are ISO 8601. */
export function viewSignInMethods(methods: {
  hasPassword: boolean;
  factors: Factors;
  passkeys: Passkey[];
  arePasskeysPossible: boolean;
  linked: LinkedAccount[];
  providers: ProviderClients;
}) {
  const { hasPassword, factors, linked, providers } = methods;
  const accounts = SIGN_IN_PROVIDERS.flatMap((provider) => {
    const account = linked.find((each) => each.provider === provider);
    return account || providers[provider] ? [viewProvider(provider, account)] : [];
  });
  return {
    hasPassword,
    /** The proof required before a change of sign-in settings. */
    proof: requiredProof({ hasPassword, factors }),
    hasAuthenticator: factors.hasTotp,
    recoveryCodesLeft: factors.recoveryCodesLeft,
    arePasskeysPossible: methods.arePasskeysPossible,
    passkeys: methods.passkeys.map(presentPasskey),
    /** Accounts at configured providers, and accounts linked earlier at providers no longer configured. */
    accounts,
  };
}
export type SignInMethodsView = ReturnType<typeof viewSignInMethods>;

const viewProvider = (provider: SignInProvider, account: LinkedAccount | undefined) => ({
  provider,
  name: SIGN_IN_METHOD_NAMES[provider],
  linked: account
    ? {
        email: account.email,
        createdAt: account.createdAt.toISOString(),
        lastUsedAt: account.lastUsedAt.toISOString(),
      }
    : null,
});

/** An open session in the console; `is_current` marks the caller's own. */
export const viewSession = (session: OpenSession, currentId: string) => ({
  ...presentSession(session),
  is_current: session.id === currentId,
});

/** One security event of an account, as text. */
export const viewAccountEvent = ({ id, kind, subject, address, userAgent, createdAt }: AccountEvent) => ({
  id,
  kind,
  what: kind in ACCOUNT_EVENTS ? ACCOUNT_EVENTS[kind as keyof typeof ACCOUNT_EVENTS] : kind,
  subject,
  address,
  agent: userAgent === null ? null : formatDevice(userAgent),
  at: createdAt.toISOString(),
});
export type AccountEventView = ReturnType<typeof viewAccountEvent>;
