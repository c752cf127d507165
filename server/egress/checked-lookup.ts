import type { LookupFunction } from "node:net";
import type { AddressVerdict, JudgeAddress } from "./address";
import { OutsideError } from "./faults";
import type { OutsideTarget } from "./outside-url";
import type { ResolveName } from "./resolve";

/** Addresses of one name that are tried at most. */
const addressesMax = 4;

const mayReach = (verdict: AddressVerdict, needs: OutsideTarget["needs"]): boolean =>
  verdict === "allowed" || verdict === needs;

/**
 * The look-up of a socket, made in the moment of connecting: the addresses that it hands over are the ones that it checked, and
 * no other look-up comes between.
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
    const reachable = found.filter((address) => mayReach(judgeAddress(address), needs));
    // One address inside among public ones is how a name is made to point inside now and then.
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
