import type { OwnLimits } from "#db/schema/api-keys";
import type { Gauge } from "#server/services/keys/gauge";
import type { KeyDetail, ListedKey } from "#server/services/keys/page";
import type { RejectionGroup } from "#server/services/keys/use";

const soonMs = 7 * 24 * 3_600_000;

/** Whether a key is currently accepted, and why not. */
export type KeyState = "active" | "expired" | "revoked";

/** A key in a list, without its token. Times are ISO 8601. */
export function viewKey(key: ListedKey, now: Date) {
  const { revokedAt, expiresAt } = key;
  const isExpired = expiresAt !== null && expiresAt <= now;
  const state: KeyState = revokedAt ? "revoked" : isExpired ? "expired" : "active";
  return {
    id: key.id,
    name: key.name,
    /** The visible part of the token, for identification. */
    tokenId: key.tokenId,
    state,
    scopes: key.scopes,
    domains: key.allDomains ? ("all" as const) : key.links,
    limits: key.limits as OwnLimits,
    expiresAt: expiresAt?.toISOString() ?? null,
    /** Whether an active key expires within 7 days. */
    endsSoon: state === "active" && expiresAt !== null && expiresAt.getTime() - now.getTime() < soonMs,
    lastUsedAt: key.lastUsedAt?.toISOString() ?? null,
    revokedAt: revokedAt?.toISOString() ?? null,
    createdAt: key.createdAt.toISOString(),
    refusals: key.refusals,
  };
}
export type KeyRow = ReturnType<typeof viewKey>;

/** One key, with its predecessor and successor. */
export function viewKeyDetail(key: KeyDetail, now: Date) {
  return { ...viewKey(key, now), predecessor: key.predecessor, successor: key.successor };
}
export type KeyView = ReturnType<typeof viewKeyDetail>;

/** The rate limit of one class of calls. */
export function viewGauge({ tier, limit, isOwn, remaining, resetAtMs }: Gauge) {
  return { tier, limit, isOwn, remaining, resetAt: new Date(resetAtMs).toISOString() };
}
export type GaugeView = ReturnType<typeof viewGauge>;

/** Rejected calls, grouped by cause. */
export function viewRefusal({ firstAt, lastAt, ...group }: RejectionGroup) {
  return { ...group, firstAt: firstAt.toISOString(), lastAt: lastAt.toISOString() };
}
export type RefusalView = ReturnType<typeof viewRefusal>;
