import type { LookupFunction } from "node:net";
import { Agent, type Dispatcher } from "undici";
import { type AddressVerdict, createAddressJudge, type JudgeAddress } from "./address";
import { OutsideError, type OutsideFault, outsideFaultOf } from "./faults";
import { type OutsideTarget, readOutsideUrl } from "./outside-url";
import { createResolveName, type NameServer, type ResolveName } from "./resolve";

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

/** Addresses of one name that are tried at most. */
const addressesMax = 4;
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
        lookup: checkedLookup(needs, judgeAddress, resolveName),
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

const mayReach = (verdict: AddressVerdict, needs: OutsideTarget["needs"]): boolean =>
  verdict === "allowed" || verdict === needs;

/** The look-up of a socket: the addresses that it hands over are the ones that it checked. */
function checkedLookup(
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

async function callWithin(agent: Agent, url: URL, request: OutsideRequest): Promise<OutsideAnswer> {
  const breaking = new AbortController();
  let isLate = false;
  const deadline = setTimeout(() => {
    isLate = true;
    breaking.abort();
  }, request.timeoutMs);
  const giveUp = () => breaking.abort();
  request.signal?.addEventListener("abort", giveUp, { once: true });
  if (request.signal?.aborted) breaking.abort();
  // The client heeds the signal only once it is connected; until then we wait no longer ourselves.
  const broken = new Promise<never>((_, reject) => {
    const leave = () => reject(new OutsideError(isLate ? "timeout" : "network"));
    if (breaking.signal.aborted) leave();
    else breaking.signal.addEventListener("abort", leave, { once: true });
  });
  try {
    return await Promise.race([call(agent, url, request, breaking.signal), broken]);
  } catch (error) {
    return { kind: "fault", fault: isLate ? "timeout" : outsideFaultOf(error) };
  } finally {
    clearTimeout(deadline);
    request.signal?.removeEventListener("abort", giveUp);
  }
}

async function call(
  agent: Agent,
  url: URL,
  request: OutsideRequest,
  signal: AbortSignal,
): Promise<OutsideAnswer> {
  const { statusCode, headers, body } = await agent.request({
    origin: url.origin,
    path: `${url.pathname}${url.search}`,
    method: request.method,
    headers: { "accept-encoding": "identity", ...request.headers },
    body: request.body,
    signal,
  });
  const read = await readUpTo(body, request.answerBytesMax);
  return { kind: "answer", status: statusCode, headers: joined(headers), ...read };
}

async function readUpTo(
  body: Dispatcher.ResponseData["body"],
  bytesMax: number,
): Promise<{ body: Buffer; isCut: boolean }> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    length += chunk.length;
    // Leaving the loop ends the body and with it the connection.
    if (length > bytesMax) break;
  }
  return { body: Buffer.concat(chunks, length).subarray(0, bytesMax), isCut: length > bytesMax };
}

function joined(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(", ") : (value ?? ""),
    ]),
  );
}
