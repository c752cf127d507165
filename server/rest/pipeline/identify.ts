import type { RestDeps } from "#server/deps";
import { AppError } from "#server/platform/errors";
import { isInNetworks, rejectAddress } from "#server/platform/http/client-networks";
import { addressBucket, clientAddress } from "#server/platform/limits/address-bucket";
import type { Verdict } from "#server/platform/limits/limits";
import { isSameSecret } from "#server/platform/secrets/same-secret";
import type { KnownKey } from "#server/services/keys/cache";
import { LIMIT_PER_MINUTE, type Tier } from "#server/shared/rate-limits";
import type { Route } from "./route";

/** The other end of the connection. The address is null if the platform does not provide it. */
export type Peer = { address: string | null };

/** The caller's key, the limiter's verdict for the headers, and the error that rejects the call, if any. */
export type Identified = {
  key: KnownKey | null;
  /** The caller's token if it is not a valid key. */
  rejectedToken?: string;
  verdict: Verdict;
  fault: unknown;
};

/**
 * Authenticates the caller and counts the call. A call without a valid key is always 401: it consumes the
 * bucket of the client address, which the headers report, but an empty bucket never changes the status to
 * 429. Public routes and the operator's routes report that bucket without consuming it. A public route with
 * its own limit has its own bucket. `route` is null for an unknown path, which requires a key too.
 */
export async function identify(
  deps: RestDeps,
  request: Request,
  peer: Peer,
  route: Route | null,
): Promise<Identified> {
  const identifyByAddress = async (verb: "take" | "peek", fault: unknown): Promise<Identified> => {
    const bucket = addressBucket(request.headers, peer.address ?? undefined, deps.trustedHops);
    const verdict = await deps.limits[verb](bucket, "other", LIMIT_PER_MINUTE.other);
    return { key: null, verdict, fault };
  };
  if (route?.access === "public" && route.perMinute !== undefined) {
    const bucket = addressBucket(request.headers, peer.address ?? undefined, deps.trustedHops);
    const verdict = await deps.limits.take(`${route.path} ${bucket}`, "other", route.perMinute);
    return { key: null, verdict, fault: verdict.allowed ? null : rateLimited(verdict.retryAfterSeconds) };
  }
  if (route?.access === "public") return identifyByAddress("peek", null);
  // RFC 6750 section 2.1: the scheme is case-insensitive and is followed by one token.
  const token = /^Bearer +([^\s]{1,512})$/i.exec(request.headers.get("authorization") ?? "")?.[1];
  if (typeof route?.access === "string") {
    const secret = deps[SECRETS[route.access]];
    if (secret === null && route.access === "metrics-token") return identifyByAddress("peek", metricsOff());
    const accepted = route.access === "inbound-token" ? [secret, ...deps.formerInboundTokens] : [secret];
    return accepted.some((one) => one && isSameSecret(token ?? "", one))
      ? identifyByAddress("peek", null)
      : identifyByAddress("take", unauthorized());
  }

  let key: KnownKey | null;
  try {
    key = token === undefined ? null : await deps.authenticate(token);
  } catch (fault) {
    return identifyByAddress("peek", fault);
  }
  if (!key) return { ...(await identifyByAddress("take", unauthorized())), rejectedToken: token };
  if (key.clientNetworks.length > 0) {
    const address = clientAddress(request.headers, peer.address ?? undefined, deps.trustedHops) ?? null;
    // The bucket of the address, because a stolen key must not use up the rate limit of its owner.
    if (!isInNetworks(address, key.clientNetworks))
      return { ...(await identifyByAddress("take", rejectAddress(address))), key };
  }
  const tier: Tier = route && route.tier !== "none" ? route.tier : "other";
  const limit = key.limits[tier] ?? LIMIT_PER_MINUTE[tier];
  let verdict = await deps.limits.take(key.id, tier, limit);
  // Each created key has its own limits. Without a common one, a key could multiply its own.
  if (verdict.allowed && route?.createsKey) {
    const ofFamily = await deps.limits.take(`family:${key.familyId}`, tier, limit);
    if (!ofFamily.allowed) verdict = ofFamily;
  }
  return { key, verdict, fault: verdict.allowed ? null : rateLimited(verdict.retryAfterSeconds) };
}

/** The dependency that holds the token of each kind of operator route. */
const SECRETS = {
  "operator-token": "cronSecret",
  "inbound-token": "inboundToken",
  "metrics-token": "metricsToken",
} as const;

const metricsOff = () =>
  new AppError("not_found", "Metrics are off. Set BACKSTAMP_METRICS_TOKEN to turn them on.");
const unauthorized = () => new AppError("unauthorized", "Unauthorized");
const rateLimited = (retryAfter: number) =>
  new AppError("rate_limited", "Rate limit exceeded", { details: { retryAfter } });
