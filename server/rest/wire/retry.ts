import type { RetryAnswer } from "#server/services/emails/retry";

/** How many deliveries were put back, and which, by mail. */
export function retryJson({ retried, hasMore }: RetryAnswer) {
  const byEmail = new Map<string, string[]>();
  for (const { emailId, address } of retried)
    byEmail.set(emailId, [...(byEmail.get(emailId) ?? []), address]);
  return {
    count: retried.length,
    data: [...byEmail].map(([id, recipients]) => ({ id, recipients })),
    has_more: hasMore,
  };
}
