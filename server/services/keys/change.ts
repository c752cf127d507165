import { apiKeyDomains, apiKeys, type OwnLimits } from "#db/schema/api-keys";
import type { AuditDetail } from "#db/schema/audit";
import type { Ctx } from "#server/deps";
import { AppError, notFound } from "#server/platform/errors";
import { TIERS, type Tier } from "#server/shared/rate-limits";
import type { ApiKey } from "#server/shared/wire/api-key";
import { recordAudit } from "../audit/record";
import { type Grant, isActiveKey, linksOfKey, permissionsOf, resolveGrant } from "./grant";
import { changeKeys, insertLinks } from "./keys";
import { getKey } from "./read";

/** A given field replaces the key's value; an omitted field is unchanged. */
export type KeyChange = {
  /** Ids or names of domains of the team; "all" also covers those added later. */
  domains?: readonly string[] | "all";
  expiresAt?: Date | null;
  /** Calls per minute by class; null for the default. */
  limits?: Partial<Record<Tier, number | null>>;
  /** Empty: from every address. */
  clientNetworks?: readonly string[];
};

/**
 * Changes the domains, expiry, limits and client networks of a key, effective immediately. Operator only:
 * only the operator may set limits above the default, or extend a key's permissions.
 */
export async function changeKey(ctx: Ctx, id: string, change: KeyChange): Promise<ApiKey> {
  if (ctx.actor.kind !== "operator")
    throw new AppError("forbidden", "Only the operator can change a key, with the CLI command `key set`.");
  return changeKeys(ctx, async (tx) => {
    const [key] = await tx.select().from(apiKeys).where(isActiveKey(ctx, id)).for("no key update");
    if (!key) throw notFound("API key");
    const before = await permissionsOf(tx, key);
    const after = await resolveGrant(tx, ctx, null, {
      domains: before.allDomains ? "all" : before.domains.map((domain) => domain.id),
      expiresAt: before.expiresAt,
      clientNetworks: before.clientNetworks,
      ...change,
      limits: applyLimits(key.limits, change.limits ?? {}),
    });
    const { allDomains, expiresAt, limits, clientNetworks } = after;
    await tx
      .update(apiKeys)
      .set({ allDomains, limits, expiresAt, clientNetworks })
      .where(isActiveKey(ctx, id));
    await tx.delete(apiKeyDomains).where(linksOfKey(ctx, id));
    await insertLinks(tx, ctx, id, after.domains);
    const detail = changesOf(detailOf(before), detailOf(after));
    if (Object.keys(detail).length > 0)
      await recordAudit(tx, ctx, { action: "key.changed", subject: { id, name: key.name }, detail });
    return getKey({ ...ctx, db: tx }, id);
  });
}

/** Merges changed limits into existing ones. */
export function applyLimits(limits: OwnLimits, change: NonNullable<KeyChange["limits"]>): OwnLimits {
  const merged = Object.entries({ ...limits, ...change });
  return Object.fromEntries(merged.filter(([, number]) => number !== null));
}

/** The audit detail of a grant, with one entry per class of calls. */
const detailOf = (grant: Grant): AuditDetail => ({
  domains: grant.allDomains ? "all" : grant.domains.map(({ name }) => name).sort(),
  expires_at: grant.expiresAt?.toISOString() ?? null,
  client_networks: grant.clientNetworks,
  ...Object.fromEntries(TIERS.map((tier) => [`limit ${tier}`, grant.limits[tier] ?? null])),
});

function changesOf(before: AuditDetail, after: AuditDetail): AuditDetail {
  const names = Object.keys(after).filter((name) => String(before[name]) !== String(after[name]));
  return Object.fromEntries(
    names.flatMap((name) => [
      [name, after[name] ?? null],
      [`${name}_before`, before[name] ?? null],
    ]),
  );
}
