import { EVENT_TYPES, type EventType, type Visit } from "#db/schema/events";
import { getAdvice } from "#server/mail/outcome";
import { emailPayload } from "./payload";

const isEmailEvent = (type: string): type is EventType => EVENT_TYPES.some((known) => known === type);

/** The payload of a sample of an event, with these ids and at this time. */
export function samplePayload(type: string, now: Date, createId: () => string): Record<string, unknown> {
  return isEmailEvent(type)
    ? JSON.parse(sampleEmailPayload(type, now, createId()))
    : { type, created_at: now.toISOString(), data: sampleData(type, now, createId) };
}

const SAMPLE_VISIT: Visit = {
  by: "reader",
  name: null,
  link: "https://example.com/",
  address: "203.0.113.7",
  agent: "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7)",
};

function sampleEmailPayload(type: EventType, now: Date, emailId: string): string {
  const refusal = {
    reply: { code: 550, enhanced: "5.1.1", text: "No such user" },
    reason: "The mailbox does not exist.",
    class: "hard",
    advice: getAdvice("hard"),
    replyRule: "mailbox_unknown",
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
            : type === "email.unknown"
              ? { policy: "hold" }
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

function sampleData(type: string, now: Date, createId: () => string): Record<string, unknown> {
  const at = now.toISOString();
  const common = { id: createId(), created_at: at };
  if (type.startsWith("domain."))
    return { ...common, name: "example.com", status: "verified", region: "self-hosted", records: [] };
  if (type.startsWith("suppression."))
    return {
      ...common,
      email: "ben@example.com",
      origin: "bounce",
      source_id: createId(),
      lists_only: false,
      lists: null,
    };
  if (type === "webhook.disabled")
    return {
      ...common,
      endpoint: "https://example.com/hooks",
      status: "disabled",
      disabled_reason: "failing",
      failing_since: at,
    };
  if (type.startsWith("alert."))
    return {
      id: common.id,
      kind: "domain_dns",
      severity: "critical",
      title: "DNS records lost",
      subject: { id: createId(), name: "example.com" },
      message: "The DNS records of example.com are no longer found.",
      to_do: "Publish the records again.",
      url: "https://mail.example.com/console/domains",
      opened_at: at,
      resolved_at: type === "alert.resolved" ? at : null,
    };
  return common;
}
