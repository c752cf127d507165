import type { RestDeps } from "#server/deps";
import { addressBucket } from "#server/limits/address-bucket";
import { LIMIT_PER_MINUTE } from "#server/limits/limits";
import { dispatch } from "#server/rest/dispatch";
import { limitHeaders } from "#server/rest/respond";
import type { RestDoor } from "./node";

/** The REST surface over these effects, as the HTTP server asks it. */
export function restDoorOf(deps: RestDeps): RestDoor {
  return {
    answer: (request, peer) => dispatch(deps, request, peer),
    async limitHeaders(address) {
      const bucket = addressBucket(new Headers(), address ?? undefined, deps.trustedHops);
      const verdict = await deps.limits.peek(bucket, "other", LIMIT_PER_MINUTE.other);
      return limitHeaders(verdict, deps.clock().getTime());
    },
  };
}
