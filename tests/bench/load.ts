import autocannon from "autocannon";

export type Load = {
  url: string;
  connections: number;
  seconds: number;
  headers?: Record<string, string>;
  /** Makes it a POST. One body for all requests: writing them must cost the load's side as little as can be. */
  body?: string;
};

export type Pressed = { perSecond: number; p50Ms: number; p99Ms: number };

/**
 * Sends requests over kept connections, each as soon as the one before is answered. Throws where anything but a 2xx
 * came back: a fast refusal must not pass for speed.
 */
export async function press({ url, connections, seconds, headers, body }: Load): Promise<Pressed> {
  const method = body === undefined ? "GET" : "POST";
  const result = await autocannon({ url, connections, duration: seconds, method, headers, body });
  if (result.non2xx + result.errors > 0)
    throw new Error(`${url} refused ${result.non2xx} requests and broke ${result.errors}.`);
  return { perSecond: result["2xx"] / result.duration, p50Ms: result.latency.p50, p99Ms: result.latency.p99 };
}
