import { retryDeliveries } from "#db/retry";
import { takeAsSent } from "#db/settle";
import type { HotTransaction } from "#db/summary";
import type { Ctx } from "#server/deps";
import { AppError } from "#server/errors";
import { newId } from "#server/ids";
import { recordAuditHot } from "../audit/record";
import { getEmail } from "./read";

/** retry: send it again, and it may arrive twice. sent: leave it at that, and it may never have arrived. */
export type Settling = "retry" | "sent";

/**
 * Decides what nobody can know: what is to become of a mail's recipients whose outcome is unknown, all of them or those
 * named. Tells to whom that was. A mail without such a recipient is 409 with the reason, a recipient that is none of
 * the mail's, or not unknown, is 422.
 */
export async function settleEmail(
  ctx: Ctx,
  id: string,
  input: { as: Settling; recipients: string[] | null },
): Promise<string[]> {
  const email = await getEmail(ctx, id);
  const held = email.deliveries.filter(({ status }) => status === "unknown").map(({ address }) => address);
  if (held.length === 0)
    throw new AppError(
      "conflict",
      `Only what is unknown can be settled; this mail is ${email.status}. Under the team's policy retry it is sent again by itself.`,
    );
  const other = input.recipients?.find((address) => !held.includes(address));
  if (other !== undefined)
    throw new AppError("invalid", `The outcome of ${other} is not unknown. Unknown are: ${held.join(", ")}.`);
  const { teamId } = ctx;
  const addresses = input.recipients;
  const recordIn = (tx: HotTransaction, settled: { length: number }) =>
    recordAuditHot(tx, ctx, {
      action: "email.settled",
      subject: { id, name: null },
      detail: { as: input.as, recipients: settled.length },
    });
  if (input.as === "sent")
    return takeAsSent(ctx.hot, { teamId, emailId: id, addresses, newId, alongside: recordIn });
  const retried = await retryDeliveries(ctx.hot, {
    teamId,
    emailIds: [id],
    which: "unknown",
    addresses,
    newId,
    alongside: recordIn,
  });
  if (retried.length > 0) ctx.wake();
  return retried.map(({ address }) => address);
}
