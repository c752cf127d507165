import { getDeps } from "#server/boot/next";
import { dispatch } from "#server/rest/dispatch";

/** The REST door inside Next, for platforms where no HTTP server of our own stands before it. */
async function handle(request: Request): Promise<Response> {
  return dispatch(getDeps(), request, { address: null });
}

export {
  handle as DELETE,
  handle as GET,
  handle as HEAD,
  handle as OPTIONS,
  handle as PATCH,
  handle as POST,
  handle as PUT,
};

/** Seconds that a platform may give a call and the round of delivery after it. */
export const maxDuration = 60;
