import type { RestDeps } from "#server/deps";
import { addressBucket } from "#server/platform/limits/address-bucket";
import { dispatch } from "#server/rest/dispatch";
import { limitHeaders } from "#server/rest/pipeline/respond";
import { LIMIT_PER_MINUTE } from "#server/shared/rate-limits";
import type { RestApi } from "./node";

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
