import { z } from "zod";
import type { RetryAnswer as Retried } from "#server/services/emails/retry";
import { Id } from "./shapes";

export const RetryAnswer = z.object({
  count: z.int().describe("Recipients that are tried again."),
  data: z.array(z.object({ id: Id, recipients: z.array(z.string()) })).describe("Which they are, by mail."),
  has_more: z.boolean(),
});

/** How many deliveries were put back, and which, by mail. */
export function retryJson({ retried, hasMore }: Retried): z.infer<typeof RetryAnswer> {
  const byEmail = new Map<string, string[]>();
  for (const { emailId, address } of retried)
    byEmail.set(emailId, [...(byEmail.get(emailId) ?? []), address]);
  return {
    count: retried.length,
    data: [...byEmail].map(([id, recipients]) => ({ id, recipients })),
    has_more: hasMore,
  };
}
