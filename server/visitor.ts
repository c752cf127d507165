import { addressBucket } from "#server/limits/address-bucket";
import type { ConsoleDeps } from "./console-deps";
import type { Log } from "./log";

/** A browser in which the person of that address signed in before, as a mark of ours in it says. */
export type KnownDevice = { id: string; email: string };

/** From where somebody calls: the bucket of their network address, and what their browser says it is. */
export type Visitor = { address: string; userAgent: string | null; device?: KnownDevice | null };

/**
 * Whose calls are counted together: those of a browser in which somebody signed in before by themselves, all others by
 * network address. Where a proxy hides the addresses, strangers do not use up what such a browser may do.
 */
export const countedAs = ({ device, address }: Visitor): string => (device ? `device-${device.id}` : address);

/** Who sent these headers, as far as they and the socket tell. */
export function visitorOf(deps: ConsoleDeps, headers: Headers): Visitor {
  const peer = deps.peerHeader === null ? null : headers.get(deps.peerHeader);
  if (deps.trustedHops === 0) warnOfProxy(deps.log, headers, peer);
  return {
    address: addressBucket(headers, peer ?? undefined, deps.trustedHops).replace(/^address:/, ""),
    userAgent: headers.get("user-agent")?.replaceAll("\0", "").slice(0, 400) || null,
  };
}

const warned = new WeakSet<Log>();

// Next writes the header itself where nobody did, with the address of the socket.
function warnOfProxy(log: Log, headers: Headers, peer: string | null): void {
  const forwarded = headers.get("x-forwarded-for");
  if (forwarded === null || forwarded === peer || warned.has(log)) return;
  warned.add(log);
  log.warn("visitor.proxy_not_trusted", {
    setting: "POSTHORN_TRUSTED_HOPS",
    hint: "X-Forwarded-For comes and is not believed: behind a proxy all visitors share one address and its limits. Set the number of proxies in front.",
  });
}
