import { setTimeout as wait } from "node:timers/promises";
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
  const lanes = createLanes(deps, { callMs: leftMs });
  const beginsUntilMs = leftMs() / 2;
  while (leftMs() > beginsUntilMs) {
    const isLast = !mayComeMore();
    if (await lanes.pump()) continue;
    if (isLast && lanes.isIdle()) break;
    await wait(Math.min(lookAgainMs, leftMs()));
  }
  await lanes.drain(leftMs());
}
