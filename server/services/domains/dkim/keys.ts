import { randomInt } from "node:crypto";
import { and, eq, gt, isNotNull, isNull, lt, sql } from "drizzle-orm";
import type { Db } from "#db/client";
import { dkimKeys, type RecordCheck } from "#db/schema/domains";
import type { Ctx } from "#server/deps";
import {
  createDkimKeyPair,
  DKIM_ALGORITHMS,
  type DkimAlgorithm,
  formatDkimRecord,
} from "#server/mail/dkim/key";
import { firstIdAt, newId } from "#server/platform/ids";
import { SEALED } from "#server/platform/secrets/sealed-columns";
import { hourMs } from "#server/shared/durations";
import type { Domain } from "../read";

/**
 * Delay between the decision that a key signs and the first email it signs. It must exceed the time that
 * workers cache keys: every worker must have loaded the key by then, or two attempts of one email would be
 * signed differently.
 */
export const keyActivationDelayMs = 120_000;

/**
 * Days for which the record of a key must stay published after the last email it signed was sent: servers
 * along the route may queue email.
 */
export const keptDays = 7;

const SELECTORS: Record<DkimAlgorithm, string> = { rsa: "backstamp", ed25519: "backstamp-ed25519" };

type NewKey = { algorithm: DkimAlgorithm; selector: string };

async function generateKey(ctx: Ctx, domainId: string, { algorithm, selector }: NewKey) {
  const { privateKey, publicKey } = await createDkimKeyPair(algorithm);
  const id = newId();
  const sealed = ctx.vault.seal(privateKey, SEALED.dkimKey.locationOf({ id, teamId: ctx.teamId }));
  return { teamId: ctx.teamId, id, domainId, algorithm, selector, privateKey: sealed, publicKey };
}

/** Creates first keys of a domain. It is slow, so call this before the transaction that adds them. */
export const generateFirstKeys = (ctx: Ctx, domainId: string, algorithms: readonly DkimAlgorithm[]) =>
  Promise.all(
    algorithms.map((algorithm) => generateKey(ctx, domainId, { algorithm, selector: SELECTORS[algorithm] })),
  );

/**
 * Adds first keys of a domain. The RSA key signs from the first email. The Ed25519 key is optional to
 * publish, so it signs only after its record is found in DNS.
 */
export async function addFirstKeys(db: Db, domain: Domain, keys: GeneratedKeys): Promise<void> {
  if (keys.length === 0) return;
  // A verified domain may already have sent unsigned email, and every attempt of an email must stay the same.
  const begins =
    domain.status === "verified"
      ? sql`case when ${hasNoEmail(domain)} then now() else ${inMs(keyActivationDelayMs)} end`
      : sql`now()`;
  await db
    .insert(dkimKeys)
    .values(keys.map((key) => ({ ...key, signsFrom: key.algorithm === "rsa" ? begins : null })))
    .onConflictDoNothing();
}

/** Bounds the emails of the team that are read, whatever their domains. */
const emailsReadMax = 20_000;

/** SQL: whether the domain sent no email since it was added; false if there are too many emails to read. */
const hasNoEmail = ({ teamId, name, createdAt }: Domain) => {
  const firstId = firstIdAt(new Date(createdAt.getTime() - hourMs));
  return sql`(select count(*) < ${emailsReadMax} and count(*) filter (where sender_domain = ${name}) = 0 from (
    select sender_domain from emails where team_id = ${teamId} and id >= ${firstId} limit ${emailsReadMax}) e)`;
};

export type GeneratedKeys = Awaited<ReturnType<typeof generateKey>>[];

/**
 * Creates successors to the keys of a domain, with new selectors; none if an RSA successor is already
 * waiting. Key generation is slow, so call this before the transaction that adds them.
 */
export async function generateSuccessors(ctx: Ctx, domain: Domain): Promise<GeneratedKeys> {
  const isPending = domain.dkimKeys.some(
    ({ algorithm, stage }) => algorithm === "rsa" && stage === "waiting",
  );
  if (isPending) return [];
  const suffix = randomInt(36 ** 6)
    .toString(36)
    .padStart(6, "0");
  return Promise.all(
    DKIM_ALGORITHMS.map((algorithm) =>
      generateKey(ctx, domain.id, { algorithm, selector: `${SELECTORS[algorithm]}-${suffix}` }),
    ),
  );
}

/**
 * Adds the successors, in a transaction. They sign once their records are found in DNS. An RSA key that is
 * already waiting remains the successor; an Ed25519 key that never signed is replaced.
 */
export async function addSuccessors(tx: Db, ctx: Ctx, domain: Domain, made: GeneratedKeys): Promise<void> {
  if (made.length === 0) return;
  // The lock makes the second of two concurrent callers find the first one's successor.
  await tx.execute(sql`select from domains where team_id = ${ctx.teamId} and id = ${domain.id} for update`);
  const [successor] = await tx
    .select({ id: dkimKeys.id })
    .from(dkimKeys)
    .where(and(ofDomain(ctx, domain.id), eq(dkimKeys.algorithm, "rsa"), isNull(dkimKeys.signsFrom)));
  if (successor) return;
  await tx.delete(dkimKeys).where(and(ofDomain(ctx, domain.id), isNull(dkimKeys.signsFrom)));
  await tx.insert(dkimKeys).values(made);
}

/**
 * Promotes each waiting key whose record was found in DNS: it replaces the previous key, which stays
 * published for a while. Call it in the transaction that records the check. Returns whether anything changed.
 */
export async function promotePublishedKeys(
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
      .set({ signsUntil: inMs(keyActivationDelayMs), keptUntil: sql`now() + ${keptDays} * interval '1 day'` })
      .where(and(ofKind, isNotNull(dkimKeys.signsFrom), isNull(dkimKeys.signsUntil)));
    await ctx.db
      .update(dkimKeys)
      .set({ signsFrom: inMs(keyActivationDelayMs) })
      .where(and(ofKind, eq(dkimKeys.id, id), isNull(dkimKeys.signsFrom)));
  }
  return seen.length > 0;
}

/**
 * Deletes retired keys whose retention is over. While any email that such a key signs is still queued,
 * sending or of unknown outcome, the deletion is postponed: its last attempt must be signed like the first,
 * and receivers must be able to verify it.
 */
export async function deleteRetiredKeys(ctx: Ctx, domain: Pick<Domain, "id" | "name">): Promise<void> {
  const isExpired = and(ofDomain(ctx, domain.id), lt(dkimKeys.keptUntil, sql`now()`));
  const [due] = await ctx.db.select({ id: dkimKeys.id }).from(dkimKeys).where(isExpired).limit(1);
  if (!due) return;
  const isSignedByKey = sql`e.team_id = ${ctx.teamId} and e.sender_domain = ${domain.name} and greatest(e.created_at, e.scheduled_at) < dkim_keys.signs_until`;
  await ctx.db
    .update(dkimKeys)
    .set({ keptUntil: sql`now() + ${keptDays} * interval '1 day'` })
    .where(
      and(
        isExpired,
        sql`(exists (select from deliveries d join emails e on e.team_id = d.team_id and e.id = d.email_id
              where d.status in ('queued', 'scheduled') and ${isSignedByKey})
            or exists (select from deliveries d join emails e on e.team_id = d.team_id and e.id = d.email_id
              where d.status = 'sending' and ${isSignedByKey})
            or exists (select from emails e where e.status = 'unknown' and ${isSignedByKey}))`,
      ),
    );
  await ctx.db.delete(dkimKeys).where(isExpired);
}

/** How long an RSA successor has been waiting, in ms; null if there is none. */
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
