import { Agent } from "undici";
import { type AddressVerdict, createAddressJudge } from "./address";
import { callWithin } from "./call";
import { createCheckedLookup } from "./checked-lookup";
import type { OutsideFault } from "./faults";
import { type OutsideTarget, readOutsideUrl } from "./outside-url";
import { createResolveName, type NameServer } from "./resolve";

export type OutsideRequest = {
  method: "GET" | "HEAD" | "POST";
  headers?: Record<string, string>;
  body?: string | Uint8Array;
  /** For everything together: name, connection, answer and its body. */
  timeoutMs: number;
  /** Bytes of the answer's body that are read; then it is cut off. */
  answerBytesMax: number;
  /** Breaks it off; the answer is then the fault `network`. */
  signal?: AbortSignal;
};

export type OutsideAnswer =
  | {
      kind: "answer";
      status: number;
      /** By name in lower case; of a header that stands several times, the values joined by commas. */
      headers: Record<string, string>;
      /** As it came over the wire: a `content-encoding` is never undone. */
      body: Buffer;
      isCut: boolean;
    }
  | { kind: "fault"; fault: OutsideFault };

/** The one way out for requests to addresses that somebody else chose. */
export type Outside = {
  /**
   * One request and whatever came of it. Never throws. Every address of the name is checked in the moment of connecting and the
   * connection goes to a checked one, while SNI and Host stay the name; redirects are answers like any other; proxies of the
   * environment are not used.
   */
  fetch(url: string, request: OutsideRequest): Promise<OutsideAnswer>;
  /** What is wrong with a URL, in a sentence for whoever gave it; null where a call may work. Asks no name server. */
  checkUrl(url: string): string | null;
  /** For connections that are no HTTP: may this address be reached? */
  judgeAddress(address: string): AddressVerdict;
  /** Breaks off what is under way. */
  close(): Promise<void>;
};

export type OutsideOptions = {
  /** Networks in CIDR form that may be reached besides the public Internet, there also by http and on any port. */
  allow?: readonly string[];
  /** Name servers to ask instead of the system's. */
  nameServers?: readonly NameServer[];
  /** Certificates in PEM that are trusted instead of the usual roots. */
  ca?: string[];
};

const headerBytesMax = 16 * 1024;
const connectMs = 10_000;

/** Opens the way out. Nothing is connected before the first request. */
export function createOutside(options: OutsideOptions = {}): Outside {
  const allow = options.allow ?? [];
  const judgeAddress = createAddressJudge(allow);
  const resolveName = createResolveName(options.nameServers ?? []);
  const agentFor = (needs: OutsideTarget["needs"]) =>
    new Agent({
      maxHeaderSize: headerBytesMax,
      // The deadline of each request covers them.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: {
        timeout: connectMs,
        lookup: createCheckedLookup(needs, judgeAddress, resolveName),
        ...(options.ca ? { ca: options.ca } : {}),
      },
    });
  // Apart, so that a connection made under the one rule never carries a request under the other.
  const agents = { public: agentFor("public"), allowed: agentFor("allowed") };

  /** What can be said before a name server is asked; an address given as such is judged here for good. */
  const readChecked = (text: string): { target: OutsideTarget } | { fault: string } => {
    const read = readOutsideUrl(text);
    if ("fault" in read) return read;
    const { literal, reason } = read.target;
    if (literal === null) return reason !== null && allow.length === 0 ? { fault: reason } : read;
    const verdict = judgeAddress(literal);
    if (verdict === "blocked") return { fault: `${literal} is not an address of the public Internet.` };
    return verdict === "public" && reason !== null ? { fault: reason } : read;
  };

  return {
    judgeAddress,
    checkUrl(text) {
      const read = readChecked(text);
      return "fault" in read ? read.fault : null;
    },
    async fetch(text, request) {
      const read = readChecked(text);
      if ("fault" in read) return { kind: "fault", fault: "blocked" };
      return callWithin(agents[read.target.needs], read.target.url, request);
    },
    close: async () => {
      // Not waited for: what is only being connected ends by its own time limit, and nobody listens to it any more.
      for (const agent of Object.values(agents)) agent.destroy().catch(() => {});
    },
  };
}
