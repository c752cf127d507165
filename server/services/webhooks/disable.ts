import { and, eq, lte, sql } from "drizzle-orm";
import { webhooks } from "#db/schema/webhooks";
import type { Deps } from "#server/deps";
import { announce } from "./events/announce";

/** An endpoint is disabled when every attempt has failed for this many days … */
export const failingDaysMax = 5;
/** … and there were at least this many attempts: one event that failed after its last retry is not enough. */
export const failuresMin = 10;

/**
 * `url` is the URL that was called: if the endpoint's URL has changed since, its response no longer counts.
 */
export type Disabling = { teamId: string; webhookId: string; url: string; reason: "gone" | "failing" };

/**
 * Disables an endpoint: `gone` after a 410 response, `failing` by the rule above, which is checked again
 * here. The same transaction queues `webhook.disabled` for the team's other endpoints. False if nothing
 * changed.
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
