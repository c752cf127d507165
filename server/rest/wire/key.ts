import type { ListedKey } from "#server/services/keys/page";

/** A key as lists show it, without anything that would let one in. */
export function keyJson(key: ListedKey) {
  return {
    id: key.id,
    name: key.name,
    token_id: key.tokenId,
    scopes: key.scopes,
    all_domains: key.allDomains,
    domains: key.links,
    limits: key.limits,
    expires_at: key.expiresAt?.toISOString() ?? null,
    rotated_from: key.rotatedFrom,
    created_at: key.createdAt.toISOString(),
    last_used_at: key.lastUsedAt?.toISOString() ?? null,
    /** Of the last 24 hours, by status; each counted up to 1,000. */
    recent_refusals: {
      unauthorized: key.refusals.unauthorized,
      forbidden: key.refusals.forbidden,
      rate_limited: key.refusals.rateLimited,
    },
  };
}
