import type { Deps } from "#server/deps";
import { judgeReported } from "#server/mail/bounce/judge";
import type { Action, Reported } from "#server/mail/bounce/report";
import { type Recorded, type Return, recordReturn } from "./record";

const EFFECTS: Partial<Record<Action, Return["effect"]>> = {
  failed: "bounced",
  delayed: "delayed",
  delivered: "delivered",
};

/**
 * Records what a server reports of a delivery, read by the table that reads SMTP replies. `maySuppress` says that it is
 * proven, and about the very address that was written to: then one that is dead by a code that says so is suppressed.
 * Null where the report tells of no failure and no success.
 */
export async function recordReported(
  deps: Pick<Deps, "hot" | "log" | "wake">,
  about: { deliveryId: string; report: string; reported: Reported; maySuppress: boolean },
): Promise<Recorded | null> {
  const { deliveryId, report, reported, maySuppress } = about;
  const effect = EFFECTS[reported.action];
  if (!effect) return null;
  const { reply, host } = reported;
  const common = { deliveryId, report, effect, reply, host };
  if (effect === "delivered")
    return recordReturn(deps, {
      ...common,
      reason: "The server reports that it was delivered.",
      suppresses: null,
    });
  const { isDead, reason, class: found, advice } = judgeReported(reported);
  const suppresses = isDead && maySuppress ? "bounce" : null;
  return recordReturn(deps, { ...common, reason, class: found, advice, suppresses });
}
