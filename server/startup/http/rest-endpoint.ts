import type { RestDeps } from "#server/deps";
import { newId } from "#server/platform/ids";
import { addressBucket } from "#server/platform/limits/address-bucket";
import { answerCall } from "#server/rest/dispatch";
import { formatError, limitHeaders, type Reply } from "#server/rest/pipeline/respond";
import { LIMIT_PER_MINUTE } from "#server/shared/rate-limits";

/** The REST API, as the HTTP server uses it. */
export type RestApi = {
  answer(request: Request, peer: { address: string | null }): Promise<Reply>;
  /** Whether a `Host` header names a tracking host, at which no page is served. */
  isTrackingHost(header: string | undefined): Promise<boolean>;
  /** The rate-limit headers for input that could not be parsed as a request. */
  limitHeaders(address: string | null): Promise<Record<string, string>>;
};

/** The REST API with these dependencies, for the HTTP server. */
export function createRestApi(deps: RestDeps): RestApi {
  return {
    answer: answerCall.bind(null, deps),
    isTrackingHost: async (header) => (await deps.findServedHost(header)) !== null,
    async limitHeaders(address) {
      const bucket = addressBucket(new Headers(), address ?? undefined, deps.trustedHops);
      const verdict = await deps.limits.peek(bucket, "other", LIMIT_PER_MINUTE.other);
      return limitHeaders(verdict, deps.clock().getTime());
    },
  };
}

/**
 * The headers and the body of an error response for a request that does not reach the REST API, in the API's
 * format.
 */
export async function formatRejection(
  rest: Promise<RestApi>,
  address: string | null,
  { status, name, message }: { status: number; name: string; message: string },
): Promise<{ headers: Record<string, string>; body: string }> {
  const requestId = newId();
  const limits = await (await rest).limitHeaders(address);
  const body = JSON.stringify(formatError({ status, name, message }, requestId));
  const headers = {
    "content-type": "application/json; charset=utf-8",
    "content-length": String(Buffer.byteLength(body)),
    "cache-control": "no-store",
    "x-request-id": requestId,
    ...limits,
  };
  return { headers, body };
}
