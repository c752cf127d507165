import { z } from "zod";
import { SIGN_IN_PROVIDERS, type SignInProvider } from "#db/schema/account";
import type { ConsoleDeps } from "#server/auth/deps";
import { confirmAddressChange, requestAddressChange } from "#server/services/account/email-address";
import { getFactors } from "#server/services/account/factors/factors";
import { confirmTotp, removeTotp, startTotp } from "#server/services/account/factors/totp";
import { renewRecoveryCodes } from "#server/services/account/factors/two-factor";
import {
  type LinkedAccount,
  listLinkedAccounts,
  unlinkAccount,
} from "#server/services/account/linked-accounts";
import { relyingParty } from "#server/services/account/passkeys/challenge";
import {
  addPasskey,
  listPasskeys,
  removePasskey,
  renamePasskey,
  startPasskey,
} from "#server/services/account/passkeys/passkeys";
import { changePassword } from "#server/services/account/password";
import { hasPassword, reauthenticate, requiredProof } from "#server/services/account/reauthenticate";
import { endOtherSessions, endSessionById, listSessions } from "#server/services/account/sessions";
import { SIGN_IN_METHOD_NAMES } from "#server/services/account/sign-in/complete-sign-in";
import { hasAlertEmails, setAlertEmails } from "#server/services/alerts/preferences";
import {
  ACCOUNT_EVENTS,
  type AccountEvent,
  formatDevice,
  listAccountEvents,
} from "#server/services/people/events";
import { renameUser } from "#server/services/people/users";
import { withIsoTimes } from "#server/shared/wire/shapes";
import { NoInput, router, signedIn } from "../init";

const eventsMax = 30;
const id = z.string().max(60);
/** A password or a code, required again before a change of sign-in settings. It is not trimmed. */
const proof = z.string().max(300);
const passkeyName = z.string().trim().max(60, "Enter a name of at most 60 characters.");

/** For the signed-in user, about their own account: ids are searched only within it. */
const own = signedIn.use(({ ctx, next }) => {
  const { user, id: sessionId } = ctx.signedInAs;
  return next({ ctx: { owner: { user, sessionId, visitor: ctx.visitor } } });
});

/** For a change of the sign-in settings: requires a password or a code again. */
const proved = own.input(z.strictObject({ proof })).use(async ({ ctx, input, next }) => {
  await reauthenticate(ctx.deps, ctx.owner, input.proof);
  return next();
});

/** The sign-in methods of a user, without secrets. Times are ISO 8601. */
async function readSignInMethods(deps: ConsoleDeps, userId: string) {
  const hasOwnPassword = await hasPassword(deps, userId);
  const factors = await getFactors(deps.db, userId);
  const linked = await listLinkedAccounts(deps, userId);
  return {
    hasPassword: hasOwnPassword,
    /** The proof required before a change of sign-in settings. */
    proof: requiredProof({ hasPassword: hasOwnPassword, factors }),
    hasAuthenticator: factors.hasTotp,
    recoveryCodesLeft: factors.recoveryCodesLeft,
    arePasskeysPossible: relyingParty(deps.url) !== null,
    passkeys: (await listPasskeys(deps, userId)).map(withIsoTimes),
    /** Accounts at configured providers, and accounts linked earlier at providers no longer configured. */
    accounts: SIGN_IN_PROVIDERS.flatMap((provider) => {
      const account = linked.find((each) => each.provider === provider);
      const name = (provider === "oidc" && deps.providers.oidc?.name) || SIGN_IN_METHOD_NAMES[provider];
      return account || deps.providers[provider] ? [viewProvider(provider, name, account)] : [];
    }),
  };
}
export type SignInMethodsView = Awaited<ReturnType<typeof readSignInMethods>>;

const viewProvider = (provider: SignInProvider, name: string, account: LinkedAccount | undefined) => ({
  provider,
  name,
  linked: account
    ? {
        email: account.email,
        createdAt: account.createdAt.toISOString(),
        lastUsedAt: account.lastUsedAt.toISOString(),
      }
    : null,
});

/** One security event of an account, as text. */
const viewAccountEvent = ({ id, kind, subject, address, userAgent, createdAt }: AccountEvent) => ({
  id,
  kind,
  what: kind in ACCOUNT_EVENTS ? ACCOUNT_EVENTS[kind as keyof typeof ACCOUNT_EVENTS] : kind,
  subject,
  address,
  agent: userAgent === null ? null : formatDevice(userAgent),
  at: createdAt.toISOString(),
});

export const accountRouter = router({
  signInMethods: own.input(NoInput).query(({ ctx }) => readSignInMethods(ctx.deps, ctx.owner.user.id)),
  /** `isCurrent` marks the session of the caller. */
  sessions: own.input(NoInput).query(async ({ ctx: { deps, owner } }) =>
    (await listSessions(deps, owner.user.id)).map((session) => ({
      ...withIsoTimes(session),
      isCurrent: session.id === owner.sessionId,
    })),
  ),
  events: own
    .input(NoInput)
    .query(async ({ ctx: { deps, owner } }) =>
      (await listAccountEvents(deps, { userId: owner.user.id, limit: eventsMax })).map(viewAccountEvent),
    ),

  changePassword: own
    .input(z.strictObject({ current: z.string().max(300), next: z.string().max(300) }))
    .mutation(({ ctx, input }) => changePassword(ctx.deps, ctx.owner, input)),

  /** Returns the secret, only in this response. */
  startAuthenticator: proved.mutation(({ ctx: { deps, owner } }) => {
    const { id: userId, email } = owner.user;
    return startTotp(deps, { userId, email, host: new URL(deps.url).host });
  }),
  /** Returns the recovery codes once, if this is the first factor. */
  confirmAuthenticator: own
    .input(z.strictObject({ code: z.string().max(20) }))
    .mutation(({ ctx, input }) => confirmTotp(ctx.deps, ctx.owner, input.code)),
  removeAuthenticator: proved.mutation(({ ctx }) => removeTotp(ctx.deps, ctx.owner)),
  /** Returns the new codes once; the earlier codes become invalid. */
  renewRecoveryCodes: proved.mutation(async ({ ctx }) => ({
    recoveryCodes: await renewRecoveryCodes(ctx.deps, ctx.owner),
  })),

  startPasskey: proved.mutation(({ ctx }) => startPasskey(ctx.deps, ctx.owner)),
  addPasskey: own
    .input(z.strictObject({ response: z.string().max(16_000), name: passkeyName }))
    .mutation(({ ctx, input }) => addPasskey(ctx.deps, ctx.owner, input)),
  renamePasskey: own
    .input(z.strictObject({ id, name: passkeyName.min(1, "Enter a name.") }))
    .mutation(({ ctx, input }) => renamePasskey(ctx.deps, ctx.owner, input)),
  removePasskey: own.input(z.strictObject({ id, proof })).mutation(async ({ ctx, input }) => {
    await reauthenticate(ctx.deps, ctx.owner, input.proof);
    await removePasskey(ctx.deps, ctx.owner, input.id);
  }),

  unlink: own
    .input(z.strictObject({ provider: z.enum(SIGN_IN_PROVIDERS) }))
    .mutation(({ ctx, input }) => unlinkAccount(ctx.deps, ctx.owner, input.provider)),

  endSession: own
    .input(z.strictObject({ id }))
    .mutation(({ ctx, input }) => endSessionById(ctx.deps, ctx.owner, input.id)),
  endOtherSessions: own.input(NoInput).mutation(async ({ ctx }) => ({
    ended: await endOtherSessions(ctx.deps, ctx.owner),
  })),
});

const Name = z.string().trim().max(100, "Enter a name of at most 100 characters.");

/** The user's display name, address and alert emails. */
export const profileRouter = router({
  get: signedIn.input(NoInput).query(async ({ ctx }) => {
    const { id: userId, email, name } = ctx.signedInAs.user;
    const proof = requiredProof({
      hasPassword: await hasPassword(ctx.deps, userId),
      factors: await getFactors(ctx.deps.db, userId),
    });
    return { email, name, proof, hasAlertEmails: await hasAlertEmails(ctx.deps, userId) };
  }),
  /** Sends a link to the new address, which changes when the link is confirmed. */
  changeEmail: own
    .input(z.strictObject({ email: z.string().max(320), proof }))
    .mutation(({ ctx, input }) => requestAddressChange(ctx.deps, ctx.owner, input)),
  /** Changes the address to that of an emailed link. */
  confirmEmail: own
    .input(z.strictObject({ token: z.string().max(4_000) }))
    .mutation(async ({ ctx, input }) => {
      const { email } = await confirmAddressChange(ctx.deps, ctx.owner, input.token);
      return { email };
    }),
  /** Turns alerts by email on or off. */
  setAlertEmails: signedIn
    .input(z.strictObject({ isOn: z.boolean() }))
    .mutation(({ ctx, input }) => setAlertEmails(ctx.deps, ctx.signedInAs.user.id, input.isOn)),
  /** An empty name removes it. */
  rename: signedIn
    .input(z.strictObject({ name: Name }))
    .mutation(({ ctx, input }) => renameUser(ctx.deps, ctx.signedInAs.user.id, input.name || null)),
});
