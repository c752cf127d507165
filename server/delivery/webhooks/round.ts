import type { Deps } from "#server/deps";
import { createWebhookEngine } from "./engine";

const repollMs = 100;

export type Round = {
  /** Remaining time of the round. */
  leftMs(): number;
  /** True while deliveries of this round can still create events. */
  mayHaveMore(): boolean;
};

/**
 * One bounded round of webhook deliveries: sends events until none are due and no more can follow, or half of
 * the time is over, because later attempts would have too little time left. An attempt never outlasts the
 * round.
 */
export async function runWebhookRound(deps: Deps, { leftMs, mayHaveMore }: Round): Promise<void> {
  let wake = () => {};
  const webhooks = createWebhookEngine(deps, { attemptMs: leftMs, onRecorded: () => wake() });
  const startUntilMs = leftMs() / 2;
  while (leftMs() > startUntilMs) {
    const woken = new Promise<void>((resolve) => {
      wake = resolve;
    });
    // Checked before the claim: attempts that end during it free capacity that this claim did not have.
    const isLast = webhooks.isIdle() && !mayHaveMore();
    if (await webhooks.pump()) continue;
    if (isLast) break;
    const repoll = setTimeout(wake, repollMs);
    await woken;
    clearTimeout(repoll);
  }
  await webhooks.drain(leftMs());
}
