import { addressBucket } from "../limits/address-bucket";
import type { Log } from "../log";

/**
 * A browser in which users signed in before, according to its cookie: the email address of the last one, and
 * of the ones before.
 */
export type KnownDevice = { id: string; email: string; earlierEmails: readonly string[] };

/** The client of a request: the bucket of its network address, its user agent, and its known device. */
export type Visitor = { address: string; userAgent: string | null; device?: KnownDevice | null };

/**
 * The rate-limit bucket of sign-in attempts for an account. A browser in which the account's owner signed in
 * before has its own bucket; all others share the bucket of their network address. If a proxy hides the
 * addresses, other visitors cannot use up the limit of a known browser. A known device has no effect for
 * another account or without an account.
 */
export const signInBucketOf = ({ device, address }: Visitor, email: string | null): string =>
  device && device.email === email ? `device-${device.id}` : address;

/** Whether the user with this email address signed in with this browser before. */
export const isKnownDevice = ({ device }: Visitor, email: string): boolean =>
  device?.email === email || device?.earlierEmails.includes(email) === true;

/** The client, from the headers and the socket address. */
export function visitorOf(
  deps: { peerHeader: string | null; trustedHops: number; log: Log },
  headers: Headers,
): Visitor {
  const peer = deps.peerHeader === null ? null : headers.get(deps.peerHeader);
  if (deps.trustedHops === 0) warnOfProxy(deps.log, headers, peer);
  return {
    address: addressBucket(headers, peer ?? undefined, deps.trustedHops).replace(/^address:/, ""),
    userAgent: headers.get("user-agent")?.replaceAll("\0", "").slice(0, 400) || null,
  };
}

const warned = new WeakSet<Log>();

// If the header is missing, Next sets it to the socket address. Such a value does not indicate a proxy.
function warnOfProxy(log: Log, headers: Headers, peer: string | null): void {
  const forwarded = headers.get("x-forwarded-for");
  if (forwarded === null || forwarded === peer || warned.has(log)) return;
  warned.add(log);
  log.warn("visitor.proxy_not_trusted", {
    setting: "BACKSTAMP_TRUSTED_HOPS",
    hint: "X-Forwarded-For is present but not trusted. Behind a proxy, all visitors share one address and its rate limits. Set the number of reverse proxies.",
  });
}
