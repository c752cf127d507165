import type { Ctx } from "#server/deps";
import {
  failingDaysMax,
  failuresMin,
  readEndpointStates,
  waitingCountedMax,
} from "#server/services/webhooks/endpoint-state";
import { presentWebhook, type Webhook } from "#server/shared/wire/webhook";

const dayMs = 86_400_000;

/** Endpoints with their state, without secrets. An endpoint that was deleted meanwhile is omitted. */
export async function viewEndpoints(ctx: Ctx, webhooks: readonly Webhook[]) {
  const states = await readEndpointStates(
    ctx,
    webhooks.map(({ id }) => id),
  );
  const now = ctx.clock();
  return webhooks.flatMap((webhook) => {
    const state = states.get(webhook.id);
    if (!state) return [];
    const { failingSince, pausedUntil, previousUntil } = webhook;
    const { isPreviousLive, ...counts } = state;
    return {
      ...presentWebhook(webhook),
      ...counts,
      isWaitingAtLeast: state.waiting === waitingCountedMax,
      /** Until when attempts wait, because the endpoint requested it; null if it did not. */
      pausedUntil: pausedUntil !== null && pausedUntil > now ? pausedUntil.toISOString() : null,
      /** When a failing endpoint is disabled if no attempt succeeds until then, and after how many failures. */
      disablesAt: failingSince && new Date(failingSince.getTime() + failingDaysMax * dayMs).toISOString(),
      disablesAfterFailures: failuresMin,
      /** Until when the previous secret also signs; null if only one secret is active. */
      previousUntil: isPreviousLive ? (previousUntil?.toISOString() ?? null) : null,
    };
  });
}
export type EndpointView = Awaited<ReturnType<typeof viewEndpoints>>[number];
