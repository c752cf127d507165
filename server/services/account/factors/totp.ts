import { and, eq, isNotNull, isNull, lt, sql } from "drizzle-orm";
import { Secret, TOTP } from "otpauth";
import { totpFactors } from "#db/schema/account";
import type { Deps } from "#server/deps";
import { AppError, notFound } from "#server/platform/errors";
import { SEALED } from "#server/platform/secrets/sealed-columns";
import { recordAccountEvent } from "../../people/events";
import { lockUser, lockUserOfSession } from "../../people/lock";
import type { Owner } from "../../people/users";
import { afterFactorAdded, afterFactorRemoved } from "./factors";

/**
 * The parameters that every authenticator app supports (RFC 6238, section 5.2). Some apps ignore other values
 * and would show wrong codes.
 */
const SHAPE = { algorithm: "SHA1", digits: 6, period: 30 } as const;
/** Tolerated clock difference in time steps, in both directions. */
const driftSteps = 1;
const secretBytes = 20;
const locationOf = (userId: string) => SEALED.totpSecret.locationOf({ id: userId, teamId: userId });

/**
 * Starts the setup of an authenticator app. Returns the secret as text and as the `otpauth:` URI for the QR
 * code. The app is not active until `confirmTotp`; starting again creates a new secret. AppError `conflict`
 * if an app is already active.
 */
export async function startTotp(
  deps: Deps,
  input: { userId: string; email: string; host: string },
): Promise<{ secret: string; uri: string }> {
  const secret = new Secret({ size: secretBytes });
  const sealed = deps.vault.seal(secret.base32, locationOf(input.userId));
  const [started] = await deps.db
    .insert(totpFactors)
    .values({ userId: input.userId, secret: sealed })
    .onConflictDoUpdate({
      target: totpFactors.userId,
      set: { secret: sealed, lastStep: 0, createdAt: sql`now()` },
      setWhere: isNull(totpFactors.confirmedAt),
    })
    .returning({ userId: totpFactors.userId });
  if (!started)
    throw new AppError(
      "conflict",
      "An authenticator app is already set up. Remove it before you add another.",
    );
  const uri = new TOTP({
    ...SHAPE,
    secret,
    issuer: `Backstamp ${input.host}`,
    label: input.email,
  }).toString();
  return { secret: secret.base32, uri };
}

/**
 * Activates the authenticator app with a code from it. Returns recovery codes if this is the user's first
 * factor, else null. AppError `invalid` for a wrong code, `unauthorized` if the session has ended.
 */
export async function confirmTotp(
  deps: Deps,
  { user: { id: userId }, sessionId, visitor }: Owner,
  code: string,
): Promise<{ recoveryCodes: string[] | null }> {
  return deps.db.transaction(async (tx) => {
    await lockUserOfSession(tx, { userId, sessionId });
    const step = await findTimeStep({ ...deps, db: tx }, { userId, code });
    const confirmed = await tx
      .update(totpFactors)
      .set({ confirmedAt: sql`now()`, lastStep: step ?? 0 })
      .where(and(eq(totpFactors.userId, userId), isNull(totpFactors.confirmedAt)))
      .returning({ userId: totpFactors.userId });
    if (step === null || confirmed.length === 0)
      throw new AppError(
        "invalid",
        "Incorrect code. Enter the code that the app shows now. If it is still rejected, check the clocks of both devices.",
      );
    await recordAccountEvent(tx, { userId, kind: "authenticator_added", visitor });
    return { recoveryCodes: await afterFactorAdded(tx, { userId, sessionId }) };
  });
}

/**
 * Verifies a code of the active app and marks its time step as used. Returns true once per time step, and
 * false for any step before the last used one.
 */
export async function consumeTotpCode(deps: Deps, input: { userId: string; code: string }): Promise<boolean> {
  const step = await findTimeStep(deps, input);
  if (step === null) return false;
  const used = await deps.db
    .update(totpFactors)
    .set({ lastStep: step })
    .where(
      and(
        eq(totpFactors.userId, input.userId),
        isNotNull(totpFactors.confirmedAt),
        lt(totpFactors.lastStep, step),
      ),
    )
    .returning({ userId: totpFactors.userId });
  return used.length > 0;
}

/** The time step for which the code is valid, or null. */
async function findTimeStep(deps: Deps, input: { userId: string; code: string }): Promise<number | null> {
  const [factor] = await deps.db
    .select({ secret: totpFactors.secret })
    .from(totpFactors)
    .where(eq(totpFactors.userId, input.userId));
  const token = input.code.slice(0, 20).replace(/[\s-]/g, "");
  if (!factor || !/^\d{6}$/.test(token)) return null;
  const secret = Secret.fromBase32(deps.vault.open(factor.secret, locationOf(input.userId)));
  const timestamp = deps.clock().getTime();
  const delta = TOTP.validate({ ...SHAPE, token, secret, timestamp, window: driftSteps });
  return delta === null ? null : TOTP.counter({ period: SHAPE.period, timestamp }) + delta;
}

/**
 * Removes the user's authenticator app, active or not yet confirmed. AppError `not_found` if there is none.
 */
export async function removeTotp(deps: Deps, { user: { id: userId }, visitor }: Owner): Promise<void> {
  await deps.db.transaction(async (tx) => {
    await lockUser(tx, userId);
    const removed = await tx
      .delete(totpFactors)
      .where(eq(totpFactors.userId, userId))
      .returning({ confirmedAt: totpFactors.confirmedAt });
    if (removed.length === 0) throw notFound("Authenticator app");
    await recordAccountEvent(tx, { userId, kind: "authenticator_removed", visitor });
    await afterFactorRemoved(tx, userId);
  });
}
