import type { RestDeps } from "#server/deps";
import { addressBucket } from "#server/platform/limits/address-bucket";
import { dispatch } from "#server/rest/dispatch";
import { limitHeaders } from "#server/rest/pipeline/respond";
import { LIMIT_PER_MINUTE } from "#server/shared/rate-limits";

/** The REST API, as the HTTP server uses it. */
export type RestApi = {
  answer(request: Request, peer: { address: string | null }): Promise<Response>;
  /** The rate-limit headers for input that could not be parsed as a request. */
  limitHeaders(address: string | null): Promise<Record<string, string>>;
};

/** The REST API with these dependencies, for the HTTP server. */
export function createRestApi(deps: RestDeps): RestApi {
  return {
    answer: dispatch.bind(null, deps),
    async limitHeaders(address) {
      const bucket = addressBucket(new Headers(), address ?? undefined, deps.trustedHops);
      const verdict = await deps.limits.peek(bucket, "other", LIMIT_PER_MINUTE.other);
      return limitHeaders(verdict, deps.clock().getTime());
    },
  };
}
