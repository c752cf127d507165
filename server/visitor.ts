import { addressBucket } from "#server/limits/address-bucket";
import type { ConsoleDeps } from "./console-deps";

/** From where somebody calls: the bucket of their network address, and what their browser says it is. */
export type Visitor = { address: string; userAgent: string | null };

/** Who sent these headers, as far as they and the socket tell. */
export function visitorOf(deps: ConsoleDeps, headers: Headers): Visitor {
  const peer = deps.peerHeader === null ? null : headers.get(deps.peerHeader);
  return {
    address: addressBucket(headers, peer ?? undefined, deps.trustedHops).replace(/^address:/, ""),
    userAgent: headers.get("user-agent")?.replaceAll("\0", "").slice(0, 400) || null,
  };
}
