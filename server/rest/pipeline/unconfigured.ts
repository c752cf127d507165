import { AppError } from "#server/platform/errors";
import { newId } from "#server/platform/ids";
import { limitHeaders, respondToError, uncounted } from "./respond";

/** The response to every request while settings are not valid: 503, with the name and the reason of each. */
export function rejectUnconfigured(
  request: Request,
  faults: readonly { name: string; reason: string }[],
  nowMs: number,
): Response {
  const requestId = newId();
  const reasons = faults.map(({ name, reason }) => `${name}: ${reason}`).join(" ");
  const settings = faults.map(({ name }) => name);
  const error = new AppError("unavailable", `Settings of this installation are not valid. ${reasons}`, {
    details: { status: "not_ready", reason: "invalid_settings", settings },
  });
  return respondToError(request, error, requestId, limitHeaders(uncounted(nowMs), nowMs));
}
