import { and, eq, inArray, isNull, or, sql } from "drizzle-orm";
import type { Db } from "#db/client";
import { apiKeyDomains, apiKeys, type OwnLimits } from "#db/schema/api-keys";
import { domains } from "#db/schema/domains";
import type { Ctx } from "#server/deps";
import { parseDomainName } from "#server/mail/address/address";
import { AppError, invalidField, rejectKey } from "#server/platform/errors";
import { findUncovered } from "#server/platform/http/client-networks";
import { isId } from "#server/platform/ids";
import { LIMIT_PER_MINUTE, TIERS } from "#server/shared/rate-limits";
import { SCOPES, type Scope } from "#server/shared/scopes";

/**
 * The requested permissions of a new key. An omitted field defaults to the maximum that its creator may
 * grant.
 */
export type GrantRequest = {
  scopes?: readonly Scope[];
  /** Ids or names of domains of the team; "all" also covers those added later. */
  domains?: readonly string[] | "all";
  expiresAt?: Date | null;
  limits?: OwnLimits;
  /** In CIDR notation with the first address, see `parseNetwork`. Empty: from every address. */
  clientNetworks?: readonly string[];
};

export type Grant = {
  scopes: readonly string[];
  allDomains: boolean;
  domains: { id: string; name: string }[];
  expiresAt: Date | null;
  limits: OwnLimits;
  clientNetworks: string[];
};

/** The permissions of a key, which are also the maximum that it may grant. */
export type Permissions = Grant & { name: string; familyId: string };

/** The condition for a key of the team that is not revoked. */
export const isActiveKey = (ctx: Ctx, id: string) =>
  and(eq(apiKeys.teamId, ctx.teamId), eq(apiKeys.id, id), isNull(apiKeys.revokedAt));

/** The condition for the links of a key of the team. */
export const linksOfKey = ({ teamId }: Pick<Ctx, "teamId">, keyId: string) =>
  and(eq(apiKeyDomains.teamId, teamId), eq(apiKeyDomains.apiKeyId, keyId));

/**
 * The current permissions of the calling key, read from its row and not from the cache. The row is locked
 * until the transaction ends, so a key that is being revoked cannot create another one afterwards. Null for
 * members and the operator.
 */
export async function permissionsOfCaller(tx: Db, ctx: Ctx): Promise<Permissions | null> {
  const { actor } = ctx;
  if (actor.kind !== "key") return null;
  const isValid = sql`(${apiKeys.expiresAt} is null or ${apiKeys.expiresAt} > now())`;
  const [key] = await tx
    .select()
    .from(apiKeys)
    .where(and(isActiveKey(ctx, actor.keyId), isValid))
    .for("share");
  if (!key) throw new AppError("unauthorized", "Unauthorized");
  return permissionsOf(tx, key);
}

/** The permissions of a key, from its row. */
export async function permissionsOf(tx: Db, key: typeof apiKeys.$inferSelect): Promise<Permissions> {
  const linked = await tx
    .select({ id: domains.id, name: domains.name })
    .from(apiKeyDomains)
    .innerJoin(domains, eq(domains.id, apiKeyDomains.domainId))
    .where(linksOfKey(key, key.id));
  const { name, scopes, allDomains, expiresAt, limits, clientNetworks } = key;
  const familyId = key.familyId ?? key.id;
  return { name, familyId, scopes, allDomains, domains: linked, expiresAt, limits, clientNetworks };
}

/** Whether a key with these permissions may send from a domain. */
export const coversDomain = (permissions: Permissions, domainId: string): boolean =>
  permissions.allDomains || permissions.domains.some(({ id }) => id === domainId);

/**
 * Determines the permissions of a new key. Throws 403 for scopes, domains, an expiry or limits beyond the
 * creator's own. Throws 422 for limits above the default, which only the operator can set with the CLI.
 */
export async function resolveGrant(
  tx: Db,
  ctx: Ctx,
  permissions: Permissions | null,
  request: GrantRequest,
): Promise<Grant> {
  const scopes = request.scopes ?? permissions?.scopes ?? SCOPES;
  const allDomains =
    request.domains === undefined ? (permissions?.allDomains ?? true) : request.domains === "all";
  const linked = Array.isArray(request.domains)
    ? await findDomains(tx, ctx, request.domains)
    : allDomains
      ? []
      : (permissions?.domains ?? []);
  const expiresAt = request.expiresAt ?? permissions?.expiresAt ?? null;
  const limits = resolveLimits(ctx, request.limits ?? {}, permissions);
  const clientNetworks = [...(request.clientNetworks ?? permissions?.clientNetworks ?? [])];
  const grant = { scopes, allDomains, domains: linked, expiresAt, limits, clientNetworks };
  if (permissions) requirePermissions(permissions, grant);
  return grant;
}

/** Throws 403 with a reason if a grant exceeds the caller's own permissions. Limits are checked elsewhere. */
export function requirePermissions(permissions: Permissions, requested: Omit<Grant, "limits">): void {
  const scopes = requested.scopes.filter((scope) => !permissions.scopes.includes(scope));
  if (scopes.length > 0)
    throw exceeds(`lacks ${scopes.length === 1 ? "the scope" : "scopes"} ${scopes.join(", ")}`);
  if (!permissions.allDomains && requested.allDomains) throw exceeds("is not linked to all domains");
  const domain = requested.domains.find(({ id }) => !coversDomain(permissions, id));
  if (domain) throw exceeds(`is not linked to the domain ${domain.name}`);
  requireNetworks(permissions, requested.clientNetworks);
  const { expiresAt } = permissions;
  if (expiresAt && (requested.expiresAt === null || requested.expiresAt > expiresAt))
    throw exceeds(`expires sooner: its \`expires_at\` is ${expiresAt.toISOString()}`);
}

/** Throws 403 if these networks exceed those of the caller. */
export function requireNetworks({ clientNetworks }: Permissions, requested: readonly string[]): void {
  const outside = findUncovered(clientNetworks, requested);
  if (outside !== null) throw exceeds(`is limited to networks that do not include ${outside}`);
}

const exceeds = (lack: string): AppError =>
  rejectKey(
    "exceeds_calling_key",
    `A key cannot grant more permissions than it has, and the calling key ${lack}. Request less, or use the console.`,
  );

/** The limits, lowered to the caller's own where those are lower. */
export function capLimits(limits: OwnLimits, permissions: Permissions | null): OwnLimits {
  if (!permissions) return limits;
  const capped: OwnLimits = { ...limits };
  for (const tier of TIERS) {
    const most = permissions.limits[tier] ?? LIMIT_PER_MINUTE[tier];
    if ((limits[tier] ?? LIMIT_PER_MINUTE[tier]) > most) capped[tier] = most;
  }
  return capped;
}

function resolveLimits(ctx: Ctx, requested: OwnLimits, permissions: Permissions | null): OwnLimits {
  if (ctx.actor.kind === "operator") return requested;
  for (const tier of TIERS) {
    const defaultLimit = LIMIT_PER_MINUTE[tier];
    const number = requested[tier];
    if (number === undefined) continue;
    if (number > defaultLimit)
      throw invalidField(
        "limits",
        `at most ${defaultLimit} per minute for "${tier}". Only the operator can set higher limits, with the CLI.`,
      );
    const own = permissions?.limits[tier] ?? defaultLimit;
    if (permissions && number > own) throw exceeds(`has a limit of ${own} calls per minute for "${tier}"`);
  }
  return capLimits(requested, permissions);
}

/** The domains of the team with these ids or names. Throws 422 for any other. */
async function findDomains(tx: Db, ctx: Ctx, requested: readonly string[]): Promise<Grant["domains"]> {
  const names = new Map(
    requested
      .filter((word) => !isId(word))
      .map((word) => {
        const read = parseDomainName(word);
        return [word, read.ok ? read.domain : word];
      }),
  );
  const found = await tx
    .select({ id: domains.id, name: domains.name })
    .from(domains)
    .where(
      and(
        eq(domains.teamId, ctx.teamId),
        or(inArray(domains.id, requested.filter(isId)), inArray(domains.name, [...names.values()])),
      ),
    );
  const missing = requested.find(
    (word) => !found.some(({ id, name }) => id === word.toLowerCase() || name === names.get(word)),
  );
  if (missing !== undefined)
    throw new AppError("invalid", `${missing.slice(0, 255)} is not a domain of this team. Add it first.`);
  return found;
}
