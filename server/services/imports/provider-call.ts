import type { z } from "zod";
import type { Deps } from "#server/deps";
import type { OutsideResponse } from "#server/platform/egress/call";
import { AppError } from "#server/platform/errors";

/** How a provider's API is called. */
export type ProviderAccess = {
  /** The provider's name in messages. */
  label: string;
  /** The origin of the API. */
  baseUrl: string;
  /** With the credentials. They are sent to this origin only, and are never part of a message. */
  headers: Record<string, string>;
  /** Waits that many milliseconds, between a rejected request and its repetition. */
  wait: (ms: number) => Promise<void>;
};

/** Reads a document by its path, or by a URL of the same origin. Throws an AppError that says what to do. */
export type ProviderCall = <T>(pathOrUrl: string, shape: z.ZodType<T>) => Promise<T>;

const timeoutMs = 60_000;
/** Some lists are one document: a dump of suppressions has about 150 bytes per address. */
const responseBytesMax = 256 * 1024 * 1024;
/** Requests for one document, while the provider limits the rate or fails for a moment. */
const triesMax = 6;
const waitMaxMs = 60_000;

/**
 * Pages of one list. More than any account has, so a provider that repeats a page cannot keep the import
 * running.
 */
export const pagesMax = 20_000;

/**
 * Calls a provider's API through the egress guard. A response with status 429 or 5xx, and a failed
 * connection, is repeated: after the time that the response requests, at most 60 s, or else after 1, 2, 4 s
 * and so on.
 */
export function createProviderCall(
  { outside, clock }: Pick<Deps, "outside" | "clock">,
  { label, baseUrl, headers, wait }: ProviderAccess,
): ProviderCall {
  const fault = outside.checkUrl(baseUrl);
  if (fault !== null) throw new AppError("invalid", fault);
  const { origin } = new URL(baseUrl);
  const send = async (url: string): Promise<Extract<OutsideResponse, { kind: "answer" }>> => {
    for (let tried = 1; ; tried++) {
      const response = await outside.fetch(url, {
        method: "GET",
        headers: { accept: "application/json", ...headers },
        timeoutMs,
        responseBytesMax,
      });
      if (response.kind === "answer" && response.status < 500 && response.status !== 429) return response;
      if (tried === triesMax) throw unavailable(label, response);
      await wait(delayMs(response, tried, clock()));
    }
  };
  return async (pathOrUrl, shape) => {
    const url = new URL(pathOrUrl, origin);
    if (url.origin !== origin)
      throw new AppError("invalid", `${label} named a next page on ${url.host}, which is not its API.`);
    const { status, body, isCut } = await send(url.href);
    if (status === 401 || status === 403)
      throw new AppError(
        "invalid",
        `${label} rejected the key for ${url.pathname} (${status}). Use a key that may read it.`,
      );
    if (status !== 200)
      throw new AppError("invalid", `${label} responded with status ${status} to ${url.pathname}.`);
    if (isCut)
      throw new AppError("invalid", `The response to ${url.pathname} is too large. Import a file instead.`);
    const read = shape.safeParse(parseJson(body.toString()));
    if (read.success) return read.data;
    const [issue] = read.error.issues;
    throw new AppError(
      "invalid",
      `The response of ${label} to ${url.pathname} has an unknown form at "${issue?.path.join(".") ?? ""}". Import a file instead.`,
    );
  };
}

/** Larger numbers of seconds are a Unix time. */
const delaySecondsMax = 1_000_000_000;

/**
 * The time that a response requests: `Retry-After`, or the reset of the rate limit, in seconds or as a Unix
 * time.
 */
function delayMs(response: OutsideResponse, tried: number, now: Date): number {
  const usual = 1_000 * 2 ** (tried - 1);
  if (response.kind === "fault") return usual;
  const { headers } = response;
  const given = headers["retry-after"] ?? headers["ratelimit-reset"] ?? headers["x-ratelimit-reset"] ?? "";
  const ms = Number.parseFloat(given) * 1_000;
  if (!Number.isFinite(ms)) return usual;
  const delay = ms > delaySecondsMax * 1_000 ? ms - now.getTime() : ms;
  return Math.min(Math.max(delay, 0), waitMaxMs);
}

function unavailable(label: string, response: OutsideResponse): AppError {
  const what =
    response.kind === "fault" ? `cannot be reached (${response.fault})` : `status ${response.status}`;
  return new AppError(
    "unavailable",
    `${label}: ${what}, after ${triesMax} requests. Run the import again; it continues where entries are missing.`,
  );
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
