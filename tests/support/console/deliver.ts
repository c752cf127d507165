import { createEngine } from "#server/delivery/engine";
import { createRouting } from "#server/delivery/routing/routes";
import { createSystemEmailSender } from "#server/delivery/system-mail/deliver";
import { runWebhookRound } from "#server/delivery/webhooks/round";
import type { WorkerDeps } from "#server/deps";

/** No run takes as long: each ends when nothing is due. */
const enoughMs = 600_000;

/**
 * Delivers every email, system email and webhook event that is due, however long it takes, and does no
 * housekeeping. A round of `tick` ends after its budget, on a slow machine before the last delivery.
 */
export async function deliverDue(deps: WorkerDeps): Promise<void> {
  const routing = createRouting(deps);
  const ofRoute = [createSystemEmailSender(deps, routing), createEngine(deps, { dialoguesMax: 5, routing })];
  for (const runner of ofRoute) {
    let hasMore = true;
    while (hasMore) {
      hasMore = await runner.pump();
      await runner.idle(enoughMs);
    }
    await runner.drain(enoughMs);
  }
  await routing.close();
  await runWebhookRound(deps, { leftMs: () => enoughMs, mayHaveMore: () => false });
}
