import { webhookDeliveries } from "#db/schema/webhooks";
import type { Ctx } from "#server/deps";
import { AppError } from "#server/platform/errors";
import { newId } from "#server/platform/ids";
import { recordAudit } from "../../audit/record";
import { requireEnabled } from "./events";
import { samplePayload } from "./sample";
import type { WebhookEvent } from "./types";

/**
 * Sends an endpoint a sample of an event that it subscribes to, marked by `data.test`, through the same
 * outbox, signatures and retries as real events. Without a type, the endpoint's first event is used.
 */
export async function sendTestEvent(
  ctx: Ctx,
  webhookId: string,
  type?: WebhookEvent,
): Promise<{ id: string; type: string }> {
  const webhook = await requireEnabled(ctx, webhookId);
  const chosen = type ?? webhook.events[0];
  if (chosen === undefined || !webhook.events.includes(chosen))
    throw new AppError(
      "invalid",
      `The endpoint does not subscribe to ${chosen}. Choose one of: ${webhook.events.join(", ")}.`,
    );
  const id = newId();
  await ctx.db.transaction(async (tx) => {
    await tx.insert(webhookDeliveries).values({
      id,
      teamId: ctx.teamId,
      webhookId,
      type: chosen,
      payload: testPayload(chosen, ctx.clock()),
    });
    await recordAudit(tx, ctx, {
      action: "webhook.tested",
      subject: { id: webhookId, name: webhook.url },
      detail: { type: chosen },
    });
  });
  ctx.wake();
  return { id, type: chosen };
}

function testPayload(type: string, now: Date): string {
  const sample = samplePayload(type, now, newId);
  return JSON.stringify({ ...sample, data: { ...(sample.data as object), test: true } });
}
