import { EVENT_TYPES, type EventType, type Visit } from "#db/schema/events";
import { webhookDeliveries } from "#db/schema/webhooks";
import type { Ctx } from "#server/deps";
import { getAdvice } from "#server/mail/outcome";
import { AppError } from "#server/platform/errors";
import { newId } from "#server/platform/ids";
import { recordAudit } from "../../audit/record";
import { requireEnabled } from "./events";
import { emailPayload } from "./payload";
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
      payload: samplePayload(chosen, ctx.clock()),
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

const isEmailEvent = (type: string): type is EventType => EVENT_TYPES.some((known) => known === type);

function samplePayload(type: string, now: Date): string {
  const sample = isEmailEvent(type)
    ? JSON.parse(sampleEmailPayload(type, now))
    : { type, created_at: now.toISOString(), data: sampleData(type, now) };
  return JSON.stringify({ ...sample, data: { ...sample.data, test: true } });
}

const SAMPLE_VISIT: Visit = {
  by: "reader",
  name: null,
  link: "https://example.com/",
  address: "203.0.113.7",
  agent: "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7)",
};

function sampleEmailPayload(type: EventType, now: Date): string {
  const emailId = newId();
  const refusal = {
    reply: { code: 550, enhanced: "5.1.1", text: "No such user" },
    reason: "The mailbox does not exist.",
    class: "hard",
    advice: getAdvice("hard"),
  };
  return emailPayload({
    type,
    recipient: "ben@example.com",
    data:
      type === "email.bounced"
        ? refusal
        : type === "email.suppressed"
          ? { ...refusal, suppressedBy: "previous_bounce" }
          : type === "email.opened" || type === "email.clicked"
            ? { visit: SAMPLE_VISIT }
            : {},
    createdAt: now,
    sequence: 1,
    emailId,
    emailCreatedAt: now,
    messageId: `${emailId}@backstamp.test`,
    sender: "Ann <ann@backstamp.test>",
    to: ["ben@example.com"],
    subject: "A test of your endpoint",
    tags: [{ name: "category", value: "test" }],
    headers: [],
    templateId: null,
  });
}

function sampleData(type: string, now: Date): Record<string, unknown> {
  const common = { id: newId(), created_at: now.toISOString() };
  if (type.startsWith("domain."))
    return { ...common, name: "example.com", status: "verified", region: "self-hosted", records: [] };
  if (type.startsWith("suppression."))
    return { ...common, email: "ben@example.com", origin: "bounce", source_id: newId(), lists_only: false };
  return common;
}
