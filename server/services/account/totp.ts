import { and, eq, isNotNull, isNull, lt, sql } from "drizzle-orm";
import { Secret, TOTP } from "otpauth";
import { totpFactors } from "#db/schema/account";
import type { Deps } from "#server/deps";
import { AppError, notFound } from "#server/errors";
import type { Place } from "#server/vault";
import type { Visitor } from "#server/visitor";
import { recordAccountEvent } from "./events";
import { addedFactor, holdOwner, holdUser, removedFactor } from "./factors";

/** What every authenticator app takes; others ignore the fields and would show wrong codes (RFC 6238, section 5.2). */
const SHAPE = { algorithm: "SHA1", digits: 6, period: 30 } as const;
/** Steps that a clock may be off, to either side. */
const driftSteps = 1;
const secretBytes = 20;

// A person is in many teams or none: their own id takes the team's place.
const placeOf = (userId: string): Place => ({
  table: "totp_factors",
  column: "secret",
  id: userId,
  teamId: userId,
});

/**
 * Begins to set up an authenticator app: answers the secret, as text and as the address that its QR code holds. It
 * counts for nothing until `confirmTotp`; beginning again makes another. AppError `conflict` where there is one already.
 */
export async function startTotp(
  deps: Deps,
  input: { userId: string; email: string; host: string },
): Promise<{ secret: string; uri: string }> {
  const secret = new Secret({ size: secretBytes });
  const sealed = deps.vault.seal(secret.base32, placeOf(input.userId));
  const [begun] = await deps.db
    .insert(totpFactors)
    .values({ userId: input.userId, secret: sealed })
    .onConflictDoUpdate({
      target: totpFactors.userId,
      set: { secret: sealed, lastStep: 0, createdAt: sql`now()` },
      setWhere: isNull(totpFactors.confirmedAt),
    })
    .returning({ userId: totpFactors.userId });
  if (!begun)
    throw new AppError(
      "conflict",
      "There is an authenticator app already. Remove it first to set up another.",
    );
  const uri = new TOTP({ ...SHAPE, secret, issuer: `Posthorn ${input.host}`, label: input.email }).toString();
  return { secret: secret.base32, uri };
}

/**
 * Makes the app count, by a code that it shows. Answers the recovery codes that come with a person's first factor, else
 * null. AppError `invalid` for a wrong code, `unauthorized` where the session ended meanwhile.
 */
export async function confirmTotp(
  deps: Deps,
  input: { userId: string; sessionId: string; code: string; visitor: Visitor },
): Promise<{ recoveryCodes: string[] | null }> {
  const { userId, sessionId, visitor } = input;
  return deps.db.transaction(async (tx) => {
    await holdOwner(tx, { userId, sessionId });
    const step = await stepOf({ ...deps, db: tx }, input);
    const confirmed = await tx
      .update(totpFactors)
      .set({ confirmedAt: sql`now()`, lastStep: step ?? 0 })
      .where(and(eq(totpFactors.userId, userId), isNull(totpFactors.confirmedAt)))
      .returning({ userId: totpFactors.userId });
    if (step === null || confirmed.length === 0)
      throw new AppError(
        "invalid",
        "The code is not right. Type the one that the app shows now; if it stays wrong, look at the clocks of both devices.",
      );
    await recordAccountEvent(tx, { userId, kind: "authenticator_added", visitor });
    return { recoveryCodes: await addedFactor(tx, { userId, sessionId }) };
  });
}

/** Takes a code of the confirmed app: true once for each of its steps, and never for one before the last that was taken. */
export async function takeTotpCode(deps: Deps, input: { userId: string; code: string }): Promise<boolean> {
  const step = await stepOf(deps, input);
  if (step === null) return false;
  const taken = await deps.db
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
  return taken.length > 0;
}

/** The time step whose code it is, or null. */
async function stepOf(deps: Deps, input: { userId: string; code: string }): Promise<number | null> {
  const [factor] = await deps.db
    .select({ secret: totpFactors.secret })
    .from(totpFactors)
    .where(eq(totpFactors.userId, input.userId));
  const token = input.code.slice(0, 20).replace(/[\s-]/g, "");
  if (!factor || !/^\d{6}$/.test(token)) return null;
  const secret = Secret.fromBase32(deps.vault.open(factor.secret, placeOf(input.userId)));
  const timestamp = deps.clock().getTime();
  const delta = TOTP.validate({ ...SHAPE, token, secret, timestamp, window: driftSteps });
  return delta === null ? null : TOTP.counter({ period: SHAPE.period, timestamp }) + delta;
}

/** Takes a person's authenticator app away, be it confirmed or begun. AppError `not_found` where there is none. */
export async function removeTotp(deps: Deps, input: { userId: string; visitor: Visitor }): Promise<void> {
  const { userId, visitor } = input;
  await deps.db.transaction(async (tx) => {
    await holdUser(tx, userId);
    const removed = await tx
      .delete(totpFactors)
      .where(eq(totpFactors.userId, userId))
      .returning({ confirmedAt: totpFactors.confirmedAt });
    if (removed.length === 0) throw notFound("Authenticator app");
    await recordAccountEvent(tx, { userId, kind: "authenticator_removed", visitor });
    await removedFactor(tx, userId);
  });
}
