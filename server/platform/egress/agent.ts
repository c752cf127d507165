import type { LookupFunction } from "node:net";
import { Agent } from "undici";

const headerBytesMax = 16 * 1024;
const connectMs = 10_000;

/** The HTTP client for one kind of network. `ca`: certificates to trust instead of the default roots. */
export const createAgent = (lookup: LookupFunction, ca: string[] | undefined): Agent =>
  new Agent({
    maxHeaderSize: headerBytesMax,
    // The total timeout of each request covers both.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: { timeout: connectMs, lookup, ...(ca && { ca }) },
  });
