import type { Deps } from "#server/deps";
import { createLanes } from "./lanes";
import { sweepWebhooks } from "./sweep";

const lookAgainMs = 100;

export type Round = {
  /** What is left of the round's time. */
  leftMs(): number;
  /** True while events are still being made that belong to this round. */
  mayComeMore(): boolean;
};

/**
 * One bounded round of calls: sweeps, then calls until nothing is due and nothing more is coming, or half of the time is
 * gone: what begins later would not have enough of it. A call never outlasts the round.
 */
export async function callRound(deps: Deps, { leftMs, mayComeMore }: Round): Promise<void> {
  await sweepWebhooks(deps);
  let rouse = () => {};
  const lanes = createLanes(deps, { callMs: leftMs, onRecorded: () => rouse() });
  const beginsUntilMs = leftMs() / 2;
  while (leftMs() > beginsUntilMs) {
    const roused = new Promise<void>((resolve) => {
      rouse = resolve;
    });
    // Asked before the claim: what ends meanwhile leaves room that this claim did not have.
    const isLast = lanes.isIdle() && !mayComeMore();
    if (await lanes.pump()) continue;
    if (isLast) break;
    const again = setTimeout(rouse, lookAgainMs);
    await roused;
    clearTimeout(again);
  }
  await lanes.drain(leftMs());
}
