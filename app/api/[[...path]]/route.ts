import { getSettingFaults } from "#server/auth/deps";
import { dispatch } from "#server/rest/dispatch";
import { rejectUnconfigured } from "#server/rest/pipeline/unconfigured";
import { getDeps } from "#server/startup/next";

/** The REST API as a Next.js route, for platforms that do not run our own HTTP server. */
async function handle(request: Request): Promise<Response> {
  const faults = getSettingFaults();
  return faults
    ? rejectUnconfigured(request, faults, Date.now())
    : dispatch(getDeps(), request, { address: null });
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

/** The maximum duration of a request in seconds, including the delivery round after it. */
export const maxDuration = 60;
