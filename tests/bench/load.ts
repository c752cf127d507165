import autocannon from "autocannon";

export type Load = {
  url: string;
  connections: number;
  /** How long it sends, without `amount`. */
  seconds?: number;
  /** How many requests it sends. */
  amount?: number;
  /** Requests per second of all connections. Default: as many as have responses. */
  rateMax?: number;
  headers?: Record<string, string>;
  /**
   * Makes it a POST. All requests have the same body, so that the client uses as little processor time as
   * possible.
   */
  body?: string;
};

export type LoadResult = { perSecond: number; p50Ms: number; p99Ms: number };

/**
 * Sends requests over kept connections, each as soon as the previous one has a response. Throws on anything
 * but a 2xx: a fast error must not count as speed.
 */
export async function press({
  url,
  connections,
  seconds,
  amount,
  rateMax,
  headers,
  body,
}: Load): Promise<LoadResult> {
  const method = body === undefined ? "GET" : "POST";
  const result = await autocannon({
    url,
    connections,
    ...(amount === undefined ? { duration: seconds } : { amount }),
    overallRate: rateMax,
    method,
    headers,
    body,
  });
  if (result.non2xx + result.errors > 0)
    throw new Error(`${url} rejected ${result.non2xx} requests, and ${result.errors} failed.`);
  return { perSecond: result["2xx"] / result.duration, p50Ms: result.latency.p50, p99Ms: result.latency.p99 };
}
