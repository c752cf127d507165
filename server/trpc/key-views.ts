import type { OwnLimits } from "#db/schema/api-keys";
import type { Gauge } from "#server/services/keys/gauge";
import type { ListedKey, WholeKey } from "#server/services/keys/page";
import type { RefusalGroup } from "#server/services/keys/use";

const soonMs = 7 * 24 * 3_600_000;

/** Whether a key lets anybody in at this moment, and why not. */
export type KeyState = "active" | "expired" | "revoked";

/** A key as lists show it: nothing in it lets anybody in. Times are ISO 8601. */
export function viewKey(key: ListedKey, now: Date) {
  const { revokedAt, expiresAt } = key;
  const isExpired = expiresAt !== null && expiresAt <= now;
  const state: KeyState = revokedAt ? "revoked" : isExpired ? "expired" : "active";
  return {
    id: key.id,
    name: key.name,
    /** The visible part, by which people recognise it. */
    tokenId: key.tokenId,
    state,
    scopes: key.scopes,
    domains: key.allDomains ? ("all" as const) : key.links,
    limits: key.limits as OwnLimits,
    expiresAt: expiresAt?.toISOString() ?? null,
    /** It works, and ends within a week. */
    endsSoon: state === "active" && expiresAt !== null && expiresAt.getTime() - now.getTime() < soonMs,
    lastUsedAt: key.lastUsedAt?.toISOString() ?? null,
    revokedAt: revokedAt?.toISOString() ?? null,
    createdAt: key.createdAt.toISOString(),
    refusals: key.refusals,
  };
}
export type KeyRow = ReturnType<typeof viewKey>;

/** One key, with those before and after it. */
export function viewWholeKey(key: WholeKey, now: Date) {
  return { ...viewKey(key, now), predecessor: key.predecessor, successor: key.successor };
}
export type KeyView = ReturnType<typeof viewWholeKey>;

/** The window of one class of calls. */
export function viewGauge({ tier, limit, isOwn, remaining, resetAtMs }: Gauge) {
  return { tier, limit, isOwn, remaining, resetAt: new Date(resetAtMs).toISOString() };
}
export type GaugeView = ReturnType<typeof viewGauge>;

/** Refused calls that are alike. */
export function viewRefusal({ firstAt, lastAt, ...group }: RefusalGroup) {
  return { ...group, firstAt: firstAt.toISOString(), lastAt: lastAt.toISOString() };
}
export type RefusalView = ReturnType<typeof viewRefusal>;
