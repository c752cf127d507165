import type { Deps } from "#server/deps";
import { interpretReported } from "#server/mail/bounce/judge";
import type { Action, Reported } from "#server/mail/bounce/report";
import { type Recorded, type ReportedOutcome, recordOutcome } from "./record";

const EFFECTS: Partial<Record<Action, ReportedOutcome["effect"]>> = {
  failed: "bounced",
  delayed: "delayed",
  delivered: "delivered",
};

/**
 * Records what a server reports about a delivery, classified by the same table as SMTP replies.
 * `maySuppress`: the report is proven and is about this exact address; the address is then suppressed if the
 * code says that it does not exist. Null if the report is neither a failure nor a success.
 */
export async function recordServerReport(
  deps: Pick<Deps, "hot" | "log" | "wake">,
  about: { deliveryId: string; report: string; reported: Reported; maySuppress: boolean },
): Promise<Recorded | null> {
  const { deliveryId, report, reported, maySuppress } = about;
  const effect = EFFECTS[reported.action];
  if (!effect) return null;
  const { reply, host } = reported;
  const common = { deliveryId, report, effect, reply, host };
  if (effect === "delivered")
    return recordOutcome(deps, {
      ...common,
      reason: "The server reported the email as delivered.",
      suppresses: null,
    });
  const { isDead, reason, class: found, advice } = interpretReported(reported);
  const suppresses = isDead && maySuppress ? "bounce" : null;
  return recordOutcome(deps, { ...common, reason, class: found, advice, suppresses });
}
