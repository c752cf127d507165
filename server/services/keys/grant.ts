import { and, eq, gt, inArray, isNull, or, sql } from "drizzle-orm";
import type { Db } from "#db/client";
import { apiKeyDomains, apiKeys, type OwnLimits } from "#db/schema/api-keys";
import { domains } from "#db/schema/domains";
import type { Ctx } from "#server/deps";
import { AppError } from "#server/errors";
import { isId } from "#server/ids";
import { LIMIT_PER_MINUTE, type Tier } from "#server/limits/limits";
import { readDomainName } from "#server/mail/address";
import { SCOPES, type Scope } from "#server/scopes";

/** What a new key should be able to do. What is left out is as much as its maker may hand on. */
export type Wish = {
  scopes?: readonly Scope[];
  /** Ids or names of domains of the team; "all" also covers those added later. */
  domains?: readonly string[] | "all";
  expiresAt?: Date | null;
  limits?: OwnLimits;
};

export type Grant = {
  scopes: readonly string[];
  allDomains: boolean;
  domains: { id: string; name: string }[];
  expiresAt: Date | null;
  limits: OwnLimits;
};

/** What a key has, and so what it may hand on at most. */
export type Power = {
  scopes: readonly string[];
  allDomains: boolean;
  domainIds: ReadonlySet<string>;
  expiresAt: Date | null;
  limits: OwnLimits;
};

const TIERS = Object.keys(LIMIT_PER_MINUTE) as Tier[];

/**
 * The one answer to a key that would hand on more than it has: the interface's 403, as for any other call that a key
 * lacks the power for. What no key may have is 422 and says why.
 */
export const lacksPower = (): AppError => new AppError("forbidden", "Insufficient API key permissions");

/**
 * What the calling key has at this moment, by its row and not by what its look-up remembered; held until the transaction
 * ends, so that a key that is just being revoked makes nothing after that. Null for people and the operator.
 */
export async function powerOfCaller(tx: Db, ctx: Ctx): Promise<Power | null> {
  const { actor, teamId } = ctx;
  if (actor.kind !== "key") return null;
  const [key] = await tx
    .select()
    .from(apiKeys)
    .where(
      and(
        eq(apiKeys.teamId, teamId),
        eq(apiKeys.id, actor.keyId),
        isNull(apiKeys.revokedAt),
        or(isNull(apiKeys.expiresAt), gt(apiKeys.expiresAt, sql`now()`)),
      ),
    )
    .for("share");
  if (!key) throw new AppError("unauthorized", "Unauthorized");
  return powerOf(tx, key);
}

/** What a key has by its row. */
export async function powerOf(tx: Db, key: typeof apiKeys.$inferSelect): Promise<Power> {
  const links = await tx
    .select({ id: apiKeyDomains.domainId })
    .from(apiKeyDomains)
    .where(and(eq(apiKeyDomains.teamId, key.teamId), eq(apiKeyDomains.apiKeyId, key.id)));
  const { scopes, allDomains, expiresAt, limits } = key;
  return { scopes, allDomains, domainIds: new Set(links.map(({ id }) => id)), expiresAt, limits };
}

/**
 * Settles what a new key gets. Refused with 403: scopes, domains or a life that its maker does not have, and limits above
 * the maker's own. Refused with 422: limits above the usual, which only the operator's command line sets.
 */
export async function settleGrant(tx: Db, ctx: Ctx, power: Power | null, wish: Wish): Promise<Grant> {
  const scopes = wish.scopes ?? power?.scopes ?? SCOPES;
  const linked = await findDomains(tx, ctx, wish.domains, power);
  const allDomains = wish.domains === "all" || (wish.domains === undefined && (power?.allDomains ?? true));
  const expiresAt = wish.expiresAt ?? power?.expiresAt ?? null;
  const limits = settleLimits(ctx, wish.limits ?? {}, power);
  const domainIds = new Set(linked.map(({ id }) => id));
  if (power && !covers(power, { scopes, allDomains, domainIds, expiresAt })) throw lacksPower();
  return { scopes, allDomains, domains: linked, expiresAt, limits };
}

/** Whether whoever has the one may hand on the other, limits left aside. */
export function covers(
  power: Power,
  { scopes, allDomains, domainIds, expiresAt }: Omit<Power, "limits">,
): boolean {
  const outlives =
    power.expiresAt !== null && (expiresAt === null || expiresAt.getTime() > power.expiresAt.getTime());
  return (
    scopes.every((scope) => power.scopes.includes(scope)) &&
    (power.allDomains || (!allDomains && [...domainIds].every((id) => power.domainIds.has(id)))) &&
    !outlives
  );
}

/** The numbers of a key, lowered where the caller's own are lower. */
export function capLimits(limits: OwnLimits, power: Power | null): OwnLimits {
  if (!power) return limits;
  const capped: OwnLimits = { ...limits };
  for (const tier of TIERS) {
    const most = power.limits[tier] ?? LIMIT_PER_MINUTE[tier];
    if ((limits[tier] ?? LIMIT_PER_MINUTE[tier]) > most) capped[tier] = most;
  }
  return capped;
}

function settleLimits(ctx: Ctx, wished: OwnLimits, power: Power | null): OwnLimits {
  if (ctx.actor.kind === "operator") return wished;
  for (const tier of TIERS) {
    const usual = LIMIT_PER_MINUTE[tier];
    const number = wished[tier];
    if (number === undefined) continue;
    if (number > usual)
      throw new AppError(
        "invalid",
        `Invalid \`limits\`: at most ${usual} a minute for "${tier}". Higher limits are set by the operator's command line alone.`,
      );
    if (power && number > (power.limits[tier] ?? usual)) throw lacksPower();
  }
  return capLimits(wished, power);
}

/** The domains that a key is linked to, one by one; none where it has them all. */
async function findDomains(
  tx: Db,
  ctx: Ctx,
  wished: Wish["domains"],
  power: Power | null,
): Promise<{ id: string; name: string }[]> {
  if (wished === "all" || (wished === undefined && (power?.allDomains ?? true))) return [];
  const ids = wished === undefined ? [...(power?.domainIds ?? [])] : wished.filter(isId);
  const names = new Map(
    (wished ?? [])
      .filter((word) => !isId(word))
      .map((word) => {
        const read = readDomainName(word);
        return [word, read.ok ? read.domain : word];
      }),
  );
  const found = await tx
    .select({ id: domains.id, name: domains.name })
    .from(domains)
    .where(
      and(
        eq(domains.teamId, ctx.teamId),
        or(inArray(domains.id, ids), inArray(domains.name, [...names.values()])),
      ),
    );
  const missing = wished?.find(
    (word) => !found.some(({ id, name }) => id === word.toLowerCase() || name === names.get(word)),
  );
  if (missing !== undefined)
    throw new AppError("invalid", `${missing.slice(0, 255)} is not a domain of this team. Add it first.`);
  return found;
}
