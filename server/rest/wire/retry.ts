import { z } from "zod";
import type { RetryAnswer as Retried } from "#server/services/emails/change/retry";
import { Id } from "#server/shared/wire/shapes";

export const RetryResponse = z.object({
  count: z.int().describe("Number of recipients that are retried."),
  data: z
    .array(z.object({ id: Id, recipients: z.array(z.string()) }))
    .describe("The retried recipients by email."),
  has_more: z.boolean(),
});

/** The number of requeued deliveries, and their recipients grouped by email. */
export function retryJson({ retried, hasMore }: Retried): z.infer<typeof RetryResponse> {
  const byEmail = new Map<string, string[]>();
  for (const { emailId, address } of retried)
    byEmail.set(emailId, [...(byEmail.get(emailId) ?? []), address]);
  return {
    count: retried.length,
    data: [...byEmail].map(([id, recipients]) => ({ id, recipients })),
    has_more: hasMore,
  };
}
