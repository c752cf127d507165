import { and, eq, lte, sql } from "drizzle-orm";
import { webhooks } from "#db/schema/webhooks";
import type { Deps } from "#server/deps";
import { announce } from "./announce";

/** An endpoint of which every attempt failed for this long is called no more … */
export const failingDaysMax = 5;
/** … where there were at least so many: one event alone, given up after its last retry, is no proof. */
export const failuresMin = 10;

/** `url` is the one that was called: what it answered says nothing about one that has taken its place since. */
export type Disabling = { teamId: string; webhookId: string; url: string; reason: "gone" | "failing" };

/**
 * Disables an endpoint on its own showing: `gone` where it answered 410, `failing` by the rule above, which is asked again here.
 * In the same transaction the team's other endpoints are told by `webhook.disabled`. False where nothing was to be done.
 */
export async function disableWebhook(
  deps: Pick<Deps, "db" | "clock">,
  { teamId, webhookId, url, reason }: Disabling,
): Promise<boolean> {
  return deps.db.transaction(async (tx) => {
    const [disabled] = await tx
      .update(webhooks)
      .set({ status: "disabled", disabledReason: reason })
      .where(
        and(
          eq(webhooks.teamId, teamId),
          eq(webhooks.id, webhookId),
          eq(webhooks.status, "enabled"),
          eq(webhooks.url, url),
          ...(reason === "failing"
            ? [
                lte(webhooks.failingSince, sql`now() - ${failingDaysMax} * interval '1 day'`),
                sql`${webhooks.failures} >= ${failuresMin}`,
              ]
            : []),
        ),
      )
      .returning({
        failingSince: webhooks.failingSince,
        createdAt: webhooks.createdAt,
      });
    if (!disabled) return false;
    await announce({ db: tx, teamId, clock: deps.clock }, "webhook.disabled", {
      id: webhookId,
      endpoint: url,
      status: "disabled",
      disabled_reason: reason,
      failing_since: disabled.failingSince?.toISOString() ?? null,
      created_at: disabled.createdAt.toISOString(),
    });
    return true;
  });
}
