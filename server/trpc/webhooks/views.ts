import type { Ctx } from "#server/deps";
import {
  failingDaysMax,
  failuresMin,
  listEndpointStates,
  waitingCountedMax,
} from "#server/services/webhooks/endpoint-state";
import type { EventEmail } from "#server/services/webhooks/events/event-emails";
import { dayMs } from "#server/shared/durations";
import {
  presentWebhook,
  presentWebhookEvent,
  type Webhook,
  type WebhookDelivery,
} from "#server/shared/wire/webhook";

/** Endpoints with their state, without secrets. An endpoint that was deleted meanwhile is omitted. */
export async function viewEndpoints(ctx: Ctx, webhooks: readonly Webhook[]) {
  const states = await listEndpointStates(
    ctx,
    webhooks.map(({ id }) => id),
  );
  const now = ctx.clock();
  return webhooks.flatMap((webhook) => {
    const state = states.get(webhook.id);
    if (!state) return [];
    const { failingSince, failures, pausedUntil, previousUntil } = webhook;
    const { isPreviousLive, ...counts } = state;
    return {
      ...presentWebhook(webhook),
      ...counts,
      isWaitingAtLeast: state.waiting === waitingCountedMax,
      /** Until when attempts wait, because the endpoint requested it; null if it did not. */
      pausedUntil: pausedUntil !== null && pausedUntil > now ? pausedUntil.toISOString() : null,
      /**
       * When a failing endpoint is disabled if no attempt succeeds until then, and after how many failures.
       */
      disablesAt: failingSince && new Date(failingSince.getTime() + failingDaysMax * dayMs).toISOString(),
      disablesAfterFailures: failuresMin,
      failures,
      /** Until when the previous secret also signs; null if only one secret is active. */
      previousUntil: isPreviousLive ? (previousUntil?.toISOString() ?? null) : null,
    };
  });
}
export type EndpointView = Awaited<ReturnType<typeof viewEndpoints>>[number];

/**
 * Whether an event is a sample (`sendTestEvent`). The body of a sample is stored from the beginning, and it
 * is about no stored email.
 */
export const isTestEvent = ({ emailId, payload }: Pick<WebhookDelivery, "emailId" | "payload">): boolean =>
  emailId === null && payload !== null && JSON.parse(payload).data?.test === true;

/**
 * An event delivery as a row of a list. `email` is null for an event without one, or if it is no longer
 * retained.
 */
export const viewDelivery = (delivery: WebhookDelivery, emails: ReadonlyMap<string, EventEmail>) => ({
  ...presentWebhookEvent(delivery),
  isTest: isTestEvent(delivery),
  hasEmail: delivery.emailId !== null,
  email: emails.get(delivery.id) ?? null,
});
export type DeliveryRow = ReturnType<typeof viewDelivery>;
