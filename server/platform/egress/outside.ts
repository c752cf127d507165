import ipaddr from "ipaddr.js";
import { createAddressJudge } from "./address";
import { callWithin, type OutsideRequest, type OutsideResponse } from "./call";
import { createCheckedLookup } from "./checked-lookup";
import { type OutsideTarget, parseOutsideUrl } from "./outside-url";
import { createResolveName, type NameServer } from "./resolve";

export type Outside = ReturnType<typeof createOutside>;

export type OutsideOptions = {
  /**
   * Allowed networks besides the public Internet, in CIDR notation. For them, http and all ports are allowed,
   * too.
   */
  allow?: readonly string[];
  /** Name servers to use instead of the system's. */
  nameServers?: readonly NameServer[];
  /** PEM certificates to trust instead of the default roots. */
  ca?: string[];
};

/** Helps users who test with an endpoint in their own network. */
const allowHint = (value: string): string =>
  `The operator can allow internal networks in CIDR notation: BACKSTAMP_EGRESS_ALLOW=${value}. For allowed networks, http and all ports are accepted.`;

const THIS_MACHINE = "127.0.0.0/8,::1 for this machine, or other networks";

/**
 * The value that allows this address. None for an address that is not of an internal network: 169.254.169.254
 * returns the secrets of cloud machines.
 */
const hintFor = (literal: string): string => {
  const address = ipaddr.process(literal);
  const value = `${address}/${address.kind() === "ipv4" ? 32 : 128}`;
  return INTERNAL_RANGES.has(address.range()) ? ` ${allowHint(value)}` : "";
};
const INTERNAL_RANGES: ReadonlySet<string> = new Set([
  "private",
  "loopback",
  "uniqueLocal",
  "carrierGradeNat",
]);

/**
 * The guarded client for requests to URLs and hosts that teams configure. All such requests use it. It opens
 * no connection, and loads no client, before the first request.
 */
export function createOutside(options: OutsideOptions = {}) {
  const allow = options.allow ?? [];
  const judgeAddress = createAddressJudge(allow);
  const resolveName = createResolveName(options.nameServers ?? []);
  const openAgent = async (needs: OutsideTarget["needs"]) => {
    const { createAgent } = await import("./agent");
    return createAgent(createCheckedLookup(needs, judgeAddress, resolveName), options.ca);
  };
  // Two agents: a connection to an allowed network must never be reused for a request that requires a public
  // address.
  const agents: { [Needs in OutsideTarget["needs"]]?: ReturnType<typeof openAgent> } = {};

  /** The checks before a DNS lookup. For a literal address the result is final. */
  const readChecked = (text: string): { target: OutsideTarget } | { fault: string } => {
    const read = parseOutsideUrl(text);
    if ("fault" in read) return read;
    const { literal, reason, isInternal } = read.target;
    if (literal === null)
      return reason !== null && allow.length === 0
        ? { fault: isInternal ? `${reason} ${allowHint(THIS_MACHINE)}` : reason }
        : read;
    const verdict = judgeAddress(literal);
    if (verdict === "blocked")
      return { fault: `${literal} is not an address of the public Internet.${hintFor(literal)}` };
    return verdict === "public" && reason !== null ? { fault: reason } : read;
  };

  return {
    /** Classifies an address, for connections other than HTTP. */
    judgeAddress,
    /**
     * Validates a URL without a DNS lookup. Returns a message for the owner of the URL, or null if it is
     * valid.
     */
    checkUrl(text: string): string | null {
      const read = readChecked(text);
      return "fault" in read ? read.fault : null;
    },
    /**
     * Sends one request. Never throws. All addresses of the name are checked at connection time, and the
     * connection uses a checked address; SNI and Host contain the name. Redirects are returned, not followed.
     * Proxy variables of the environment are ignored.
     */
    async fetch(text: string, request: OutsideRequest): Promise<OutsideResponse> {
      const read = readChecked(text);
      if ("fault" in read) return { kind: "fault", fault: "blocked" };
      const { needs, url } = read.target;
      agents[needs] ??= openAgent(needs);
      return callWithin(await agents[needs], url, request);
    },
    /** Aborts all requests in progress. */
    close: async (): Promise<void> => {
      // Not awaited: a connection attempt ends only at its own timeout, and its result is no longer needed.
      for (const agent of Object.values(agents)) (await agent).destroy().catch(() => {});
    },
  };
}
