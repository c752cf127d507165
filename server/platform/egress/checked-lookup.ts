import type { LookupFunction } from "node:net";
import type { JudgeAddress } from "./address";
import { OutsideError } from "./faults";
import type { OutsideTarget } from "./outside-url";
import type { ResolveName } from "./resolve";

/** Maximum number of addresses to try for one name. */
const addressesMax = 4;

/**
 * The DNS lookup function of a socket. It returns only addresses that it has checked, and the socket connects
 * to them without a second lookup, so DNS rebinding cannot bypass the check.
 */
export function createCheckedLookup(
  needs: OutsideTarget["needs"],
  judgeAddress: JudgeAddress,
  resolveName: ResolveName,
): LookupFunction {
  const addressesOf = async (name: string): Promise<string[]> => {
    const found = await resolveName(name, needs === "allowed").catch(() => {
      throw new OutsideError("dns");
    });
    const reachable = found.filter((address) => ["allowed", needs].includes(judgeAddress(address)));
    // A name with both public and internal addresses is typical of DNS rebinding, so it is blocked.
    const isLoopbackName = /(^|\.)localhost\.?$/.test(name);
    if (reachable.length === 0 || (reachable.length < found.length && !isLoopbackName))
      throw new OutsideError("blocked");
    return reachable.slice(0, addressesMax);
  };
  return (name, { all }, done) => {
    addressesOf(name).then(
      (addresses) => {
        const found = addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
        if (all) return done(null, found);
        return done(null, found[0]?.address ?? "", found[0]?.family);
      },
      (error: NodeJS.ErrnoException) => done(error, []),
    );
  };
}
