import { asc, eq, sql } from "drizzle-orm";
import type { HotSql } from "#db/client";
import { replyRules } from "#db/schema/relays";
import { runPrepared } from "#db/statement";
import type { Deps } from "#server/deps";
import { parseDomainName } from "#server/mail/address/address";
import { PROVIDER_CLASSES } from "#server/mail/provider-class";
import { normalizeReply, type OwnRule } from "#server/mail/replies/own-rules";
import { AppError } from "#server/platform/errors";
import { createKeptRead } from "#server/platform/kept-read";

/** A rule of the operator for replies of all servers or of one destination; `expiresAt` null: no expiry. */
export type ReplyRule = typeof replyRules.$inferSelect;

export type NewReplyRule = Omit<OwnRule, "destination"> & {
  destination?: string | null | undefined;
  expiresAt?: Date | null | undefined;
};

const rulesMax = 500;
const pattern = { charsMax: 200, textCharsMin: 4, wildcardsMax: 8 };
/** Each process applies a change after this time at the latest. */
const keptMs = 10_000;

/** All rules in the order in which they are applied, also those that have expired. */
export const listReplyRules = ({ db }: Pick<Deps, "db">): Promise<ReplyRule[]> =>
  db.select().from(replyRules).orderBy(asc(replyRules.name));

/**
 * Adds a rule, or replaces the one of this name. 422 for an invalid name, pattern, destination or expiry, and
 * if there would be more than 500 rules.
 */
export async function setReplyRule(
  { db, clock }: Pick<Deps, "db" | "clock">,
  given: NewReplyRule,
): Promise<ReplyRule> {
  const { name, action, class: replyClass, expiresAt = null } = given;
  if (!/^[a-z0-9][a-z0-9_-]{0,49}$/.test(name))
    throw invalid("name", "Use 1 to 50 lower-case letters, digits, hyphens and underscores.");
  if (expiresAt !== null && expiresAt <= clock()) throw invalid("expiry", "Give a time in the future.");
  const values = {
    pattern: parsePattern(given.pattern),
    destination: parseDestination(given.destination ?? null),
    class: replyClass,
    action,
    expiresAt,
  };
  return db.transaction(async (tx) => {
    const [set] = await tx
      .insert(replyRules)
      .values({ name, ...values })
      .onConflictDoUpdate({ target: replyRules.name, set: { ...values, updatedAt: sql`now()` } })
      .returning();
    if (!set) throw new TypeError("an upsert returned no row");
    if ((await tx.$count(replyRules)) > rulesMax)
      throw new AppError("invalid", `There are ${rulesMax} rules, the maximum. Remove one first.`);
    return set;
  });
}

/** Removes a rule. 404 if there is none of this name. */
export async function removeReplyRule({ db }: Pick<Deps, "db">, name: string): Promise<void> {
  const [removed] = await db
    .delete(replyRules)
    .where(eq(replyRules.name, name))
    .returning({ name: replyRules.name });
  if (!removed) throw new AppError("not_found", `There is no reply rule ${name}.`);
}

function parsePattern(given: string): string {
  const text = normalizeReply(given);
  const plain = text.replaceAll("*", "");
  if (plain.trim().length < pattern.textCharsMin)
    throw invalid("pattern", `Give at least ${pattern.textCharsMin} characters of the reply besides *.`);
  if (text.length > pattern.charsMax) throw invalid("pattern", `Use at most ${pattern.charsMax} characters.`);
  if (text.length - plain.length > pattern.wildcardsMax)
    throw invalid("pattern", `Use * at most ${pattern.wildcardsMax} times.`);
  return text;
}

function parseDestination(given: string | null): string | null {
  const text = given?.trim().toLowerCase() ?? null;
  if (text === null || PROVIDER_CLASSES.some((provider) => provider === text)) return text;
  const read = parseDomainName(text);
  if (read.ok && read.domain.includes(".")) return read.domain;
  throw invalid("destination", `Give a domain, or one of: ${PROVIDER_CLASSES.join(", ")}.`);
}

const invalid = (field: string, what: string): AppError =>
  new AppError("invalid", `Invalid ${field}. ${what}`);

const kept = new WeakMap<HotSql, () => Promise<OwnRule[]>>();

/** The rules that apply now, kept for 10 seconds in each process. */
export function getReplyRules(hot: HotSql): Promise<OwnRule[]> {
  const read = kept.get(hot) ?? createKeptRead(() => runPrepared<OwnRule>(hot, READ_RULES, []), keptMs);
  kept.set(hot, read);
  return read();
}

const READ_RULES = `
select name, pattern, destination, class, action from reply_rules
where expires_at is null or expires_at > now() order by name`;
