import type { Ctx } from "#server/deps";
import { AppError } from "#server/platform/errors";
import { getEmail } from "../read/read";
import { requireLinkedDomain } from "./linked-domains";
import { resetDeliveries } from "./reset-deliveries";

/**
 * `retry`: send again, so the email may be delivered twice. `sent`: mark as sent, so it may never have been
 * delivered.
 */
export type Settling = "retry" | "sent";

/**
 * Resolves the unknown outcomes of an email, for all its recipients or those named. Returns the addresses.
 * 409 with the reason if no outcome is unknown, 422 if an address is not a recipient or its outcome is known,
 * 403 if the key may not change the email.
 */
export async function settleEmail(
  ctx: Ctx,
  id: string,
  { as, recipients }: { as: Settling; recipients: string[] | null },
): Promise<string[]> {
  const email = await getEmail(ctx, id);
  await requireLinkedDomain(ctx, email.senderDomain);
  const unknown = email.deliveries.filter(({ status }) => status === "unknown").map(({ address }) => address);
  if (unknown.length === 0)
    throw new AppError(
      "conflict",
      `Only unknown outcomes can be resolved. This email is ${email.status}. Under the team policy \`retry\`, unknown outcomes are retried automatically.`,
    );
  const other = recipients?.find((address) => !unknown.includes(address));
  if (other !== undefined)
    throw new AppError(
      "invalid",
      `The outcome of ${other} is not unknown. Recipients with an unknown outcome: ${unknown.join(", ")}.`,
    );
  const settled = await resetDeliveries(
    ctx,
    { emailIds: [id], states: ["unknown"], addresses: recipients, to: as === "sent" ? "sent" : "queued" },
    ({ length }) => ({
      action: "email.settled",
      subject: { id, name: null },
      detail: { as, recipients: length },
    }),
  );
  return settled.map(({ address }) => address);
}
