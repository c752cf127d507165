import type { DeliveryLease } from "#server/delivery/queue/claims";
import type { DeliveryResult } from "#server/delivery/queue/record-results";
import { newId } from "#server/platform/ids";

type Concluded = Extract<
  DeliveryResult["status"],
  "queued" | "sent" | "delivered" | "bounced" | "failed" | "unknown"
>;

/**
 * The result of an attempt with this final status, as a worker records it. A queued delivery is due again in
 * an hour.
 */
export function attemptResult(claim: DeliveryLease, status: Concluded): DeliveryResult {
  const isDelayed = status === "queued";
  return {
    teamId: claim.teamId,
    emailId: claim.emailId,
    id: claim.id,
    leaseToken: claim.leaseToken,
    status,
    retryAfterMs: isDelayed ? 3_600_000 : null,
    waitRule: isDelayed ? "retry_schedule" : null,
    code: 250,
    enhanced: null,
    text: "the result of the attempt",
    host: null,
    reason: "The reason of the result.",
    events: [
      { id: newId(), type: isDelayed ? "email.delivery_delayed" : `email.${status}`, data: { attempt: 1 } },
    ],
  };
}
