import { createHash, timingSafeEqual } from "node:crypto";
import type { RestDeps } from "#server/deps";
import { AppError } from "#server/errors";
import { addressBucket } from "#server/limits/address-bucket";
import { LIMIT_PER_MINUTE, type Tier, type Verdict } from "#server/limits/limits";
import type { KnownKey } from "#server/services/keys/authenticate";
import type { Route } from "./route";

/** Who is at the other end of the connection; null where the platform does not tell. */
export type Peer = { address: string | null };

/** Who calls, if a key tells; what the limits say, for the headers; and why the call ends here, if it does. */
export type Identified = {
  key: KnownKey | null;
  /** What the caller gave, where it opened nothing. */
  refusedToken?: string;
  verdict: Verdict;
  fault: unknown;
};

/**
 * Finds out who calls and counts the call. Without a valid key it is 401, always: the bucket of the client's address shows
 * in the headers but never turns that into a 429. Public routes and the operator's are shown that bucket and consume
 * nothing of it. `route` is null where there is none: such a call needs a key like any other.
 */
export async function identify(
  deps: RestDeps,
  request: Request,
  peer: Peer,
  route: Route | null,
): Promise<Identified> {
  const anybody = async (verb: "take" | "peek", fault: unknown): Promise<Identified> => {
    const bucket = addressBucket(request.headers, peer.address ?? undefined, deps.trustedHops);
    const verdict = await deps.limits[verb](bucket, "other", LIMIT_PER_MINUTE.other);
    return { key: null, verdict, fault };
  };
  if (route?.access === "public") return anybody("peek", null);
  const token = bearerOf(request);
  if (route?.access === "operator-token" || route?.access === "inbound-token") {
    const secret = route.access === "operator-token" ? deps.cronSecret : deps.inboundToken;
    return secret && isSame(token ?? "", secret) ? anybody("peek", null) : anybody("take", unauthorized());
  }

  let key: KnownKey | null;
  try {
    key = token === undefined ? null : await deps.authenticate(token);
  } catch (fault) {
    return anybody("peek", fault);
  }
  if (!key) return { ...(await anybody("take", unauthorized())), refusedToken: token };
  const tier: Tier = route && route.tier !== "none" ? route.tier : "other";
  const verdict = await deps.limits.take(key.id, tier, key.limits[tier] ?? LIMIT_PER_MINUTE[tier]);
  return { key, verdict, fault: verdict.allowed ? null : rateLimited(verdict.retryAfterSeconds) };
}

/** RFC 6750 section 2.1: the scheme in any letter case, then one token. */
const bearerOf = (request: Request): string | undefined =>
  /^Bearer +([^\s]{1,512})$/i.exec(request.headers.get("authorization") ?? "")?.[1];

const unauthorized = () => new AppError("unauthorized", "Unauthorized");
const rateLimited = (retryAfter: number) =>
  new AppError("rate_limited", "Rate limit exceeded", { details: { retryAfter } });

/** Of hashes, which have one length: the time taken tells nothing about the secret. */
function isSame(given: string, expected: string): boolean {
  const hashOf = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(hashOf(given), hashOf(expected));
}
