import { randomInt } from "node:crypto";
import { and, eq, gt, isNotNull, isNull, lt, sql } from "drizzle-orm";
import type { Db } from "#db/client";
import { dkimKeys } from "#db/schema/dkim-keys";
import type { RecordCheck } from "#db/schema/domains";
import type { Ctx } from "#server/deps";
import { newId } from "#server/ids";
import {
  createDkimKeyPair,
  DKIM_ALGORITHMS,
  type DkimAlgorithm,
  formatDkimRecord,
} from "#server/mail/dkim/key";
import type { Place } from "#server/vault";
import type { Domain } from "./read";

/**
 * Between the decision that a key signs and the first mail that it signs. Every worker has to know of it by then, or two
 * attempts at one mail would differ: it is longer than they remember what they read.
 */
export const takeOverMs = 120_000;

/** How long the record of a key has to stay after the last mail with its signature left: servers on the way may keep mail. */
export const keptDays = 7;

const SELECTORS: Record<DkimAlgorithm, string> = { rsa: "posthorn", ed25519: "posthorn-ed25519" };

/** Where a private key is sealed: the place that it had in the first schema. */
export const placeOfKey = (teamId: string, id: string): Place => ({
  table: "domains",
  column: "dkim_private_key",
  id,
  teamId,
});

type NewKey = { algorithm: DkimAlgorithm; selector: string };

async function makeKey(ctx: Ctx, domain: Domain, { algorithm, selector }: NewKey) {
  const { privateKey, publicKey } = await createDkimKeyPair(algorithm);
  const id = newId();
  const sealed = ctx.vault.seal(privateKey, placeOfKey(ctx.teamId, id));
  return {
    teamId: ctx.teamId,
    id,
    domainId: domain.id,
    algorithm,
    selector,
    privateKey: sealed,
    publicKey,
  };
}

/**
 * The first key of its kind. That of RSA signs from the first mail on; Ed25519 waits until its record is seen, for nobody
 * has to publish it.
 */
export async function addFirstKey(ctx: Ctx, domain: Domain, algorithm: DkimAlgorithm): Promise<void> {
  const key = await makeKey(ctx, domain, { algorithm, selector: SELECTORS[algorithm] });
  // A domain that may have sent already was unsigned so far, and each mail stays as it was.
  const begins = domain.status === "verified" ? inMs(takeOverMs) : sql`now()`;
  await ctx.db
    .insert(dkimKeys)
    .values({ ...key, signsFrom: algorithm === "rsa" ? begins : null })
    .onConflictDoNothing();
}

export type Successors = Awaited<ReturnType<typeof makeKey>>[];

/**
 * Successors to the keys of a domain, under selectors of their own; none where one of RSA waits already. Making them takes its
 * time, so it is done before the transaction that adds them.
 */
export async function makeSuccessors(ctx: Ctx, domain: Domain): Promise<Successors> {
  const isWaiting = domain.dkimKeys.some(
    ({ algorithm, stage }) => algorithm === "rsa" && stage === "waiting",
  );
  if (isWaiting) return [];
  const suffix = randomInt(36 ** 6)
    .toString(36)
    .padStart(6, "0");
  return Promise.all(
    DKIM_ALGORITHMS.map((algorithm) =>
      makeKey(ctx, domain, { algorithm, selector: `${SELECTORS[algorithm]}-${suffix}` }),
    ),
  );
}

/**
 * Adds them, in a transaction. They sign once they are seen in DNS. One that waits already stays the successor; one of Ed25519
 * that never signed is replaced.
 */
export async function addSuccessors(tx: Db, ctx: Ctx, domain: Domain, made: Successors): Promise<void> {
  if (made.length === 0) return;
  // Of two callers at once the second finds the first one's successor.
  await tx.execute(sql`select from domains where team_id = ${ctx.teamId} and id = ${domain.id} for update`);
  const [rival] = await tx
    .select({ id: dkimKeys.id })
    .from(dkimKeys)
    .where(and(ofDomain(ctx, domain.id), eq(dkimKeys.algorithm, "rsa"), isNull(dkimKeys.signsFrom)));
  if (rival) return;
  await tx.delete(dkimKeys).where(and(ofDomain(ctx, domain.id), isNull(dkimKeys.signsFrom)));
  await tx.insert(dkimKeys).values(made);
}

/**
 * Lets each waiting key that a look has found published take over from the one before it, which stays published for a
 * while. Call it in the transaction that records the look. Tells whether anything changed.
 */
export async function promoteSeenKeys(
  ctx: Ctx,
  domain: Domain,
  checks: readonly RecordCheck[],
): Promise<boolean> {
  const seen = domain.dkimKeys.filter(
    ({ stage, algorithm, publicKey }) =>
      stage === "waiting" &&
      checks.some(
        ({ status, expected }) =>
          status === "verified" && expected === formatDkimRecord(algorithm, publicKey),
      ),
  );
  for (const { id, algorithm } of seen) {
    const ofKind = and(ofDomain(ctx, domain.id), eq(dkimKeys.algorithm, algorithm));
    await ctx.db
      .update(dkimKeys)
      .set({ signsUntil: inMs(takeOverMs), keptUntil: sql`now() + ${keptDays} * interval '1 day'` })
      .where(and(ofKind, isNotNull(dkimKeys.signsFrom), isNull(dkimKeys.signsUntil)));
    await ctx.db
      .update(dkimKeys)
      .set({ signsFrom: inMs(takeOverMs) })
      .where(and(ofKind, eq(dkimKeys.id, id), isNull(dkimKeys.signsFrom)));
  }
  return seen.length > 0;
}

/**
 * Forgets retired keys whose time is over. While mail of their time is not done with, that is put off, so that its last
 * attempt is signed like the first, and what it leaves behind on the way can be verified.
 */
export async function forgetRetiredKeys(ctx: Ctx, domain: Pick<Domain, "id" | "name">): Promise<void> {
  const isOver = and(ofDomain(ctx, domain.id), lt(dkimKeys.keptUntil, sql`now()`));
  const [due] = await ctx.db.select({ id: dkimKeys.id }).from(dkimKeys).where(isOver).limit(1);
  if (!due) return;
  const ofItsTime = sql`e.team_id = ${ctx.teamId} and e.sender_domain = ${domain.name} and greatest(e.created_at, e.scheduled_at) < dkim_keys.signs_until`;
  await ctx.db
    .update(dkimKeys)
    .set({ keptUntil: sql`now() + ${keptDays} * interval '1 day'` })
    .where(
      and(
        isOver,
        sql`(exists (select from deliveries d join emails e on e.team_id = d.team_id and e.id = d.email_id
              where d.status in ('queued', 'scheduled') and ${ofItsTime})
            or exists (select from deliveries d join emails e on e.team_id = d.team_id and e.id = d.email_id
              where d.status = 'sending' and ${ofItsTime})
            or exists (select from emails e where e.status = 'unknown' and ${ofItsTime}))`,
      ),
    );
  await ctx.db.delete(dkimKeys).where(isOver);
}

/** Since when a successor of RSA's key is awaited, in ms; null where none is. */
export async function awaitingKeyForMs(ctx: Ctx, domainId: string): Promise<number | null> {
  const [row] = await ctx.db
    .select({ ms: sql<number>`(extract(epoch from now() - ${dkimKeys.createdAt}) * 1000)::float8` })
    .from(dkimKeys)
    .where(
      and(
        ofDomain(ctx, domainId),
        eq(dkimKeys.algorithm, "rsa"),
        isNull(dkimKeys.signsFrom),
        gt(dkimKeys.createdAt, sql`now() - interval '72 hours'`),
      ),
    );
  return row?.ms ?? null;
}

const ofDomain = (ctx: Ctx, id: string) => and(eq(dkimKeys.teamId, ctx.teamId), eq(dkimKeys.domainId, id));
const inMs = (ms: number) => sql`now() + ${ms} * interval '1 ms'`;
