import { samplePayload } from "#server/services/webhooks/events/sample";
import type { SentEvent } from "#server/services/webhooks/events/types";
import { EVENT_DESCRIPTIONS } from "#server/shared/webhook-event-words";
import { sampleValueOf } from "./sample-call";
import type { Parts, Schema } from "./schema";

/** Descriptions of the fields of payloads, by name. A field has the same meaning in every event. */
const FIELDS: Record<string, string> = {
  data: "The object that the event is about.",
  created_at: "When the object was created.",
  subject: "The subject of the email; of an alert, what it is about.",
  email_id: "The id of the email.",
  message_id: "The Message-ID of the email.",
  from: "The sender, as in the request.",
  to: "The recipient of the event, or all recipients if the event concerns all of them.",
  sequence:
    "The position among the events of the email. Of two events of one recipient the later has the greater number.",
  tags: "The tags of the email, by name.",
  bounce: "Why the recipient's server rejected the email.",
  subType: "The kind of bounce, as in the API of Resend.",
  diagnosticCode: "The reply of the server (RFC 3464).",
  class: "The class of the rejection.",
  advice: "What to do about it.",
  reply_rule: "The rule that determined the class: a built-in one, a code, or `operator:` and a name.",
  failed: "Why the email was not sent.",
  suppressed: "Why the recipient is suppressed.",
  unknown: "Why the outcome is unknown.",
  policy: "What follows: `retry`, or `hold` until a person decides.",
  open: "The request for the open-tracking pixel.",
  click: "The request for the tracked link.",
  link: "The URL that was clicked.",
  by: "Who made the request, as far as it can be detected.",
  by_name: "The name of the program that made the request; null for a person.",
  status: "The state after the change.",
  records: "The DNS records of the domain.",
  origin: "Why the address is on the list.",
  source_id: "The email that caused the entry, if there is one.",
  lists_only: "True for an unsubscribe by link: blocks only email sent with `list_unsubscribe`.",
  lists:
    "With `lists_only`: the names of the lists that it blocks, or no longer blocks after `suppression.removed`; null: all of them.",
  disabled_reason: "`gone`: it responded with 410. `failing`: it failed for days.",
  failing_since: "The time of the first failure since the last success.",
  kind: "The kind of alert.",
  to_do: "What to do about it.",
  opened_at: "When the alert was opened.",
  resolved_at: "When the alert was resolved; null while it is open.",
};

/** The time in examples. */
const sampleAt = new Date("2026-01-01T12:00:00.000Z");

/**
 * The requests that endpoints receive, as `webhooks` of OpenAPI 3.1: one for each event that Backstamp sends.
 */
export const webhooksOf = (): Parts =>
  Object.fromEntries(
    (Object.keys(EVENT_DESCRIPTIONS) as SentEvent[]).map((type) => [type, { post: requestOf(type) }]),
  );

function requestOf(type: SentEvent): Schema {
  const example = samplePayload(type, sampleAt, () => sampleValueOf("id"));
  const { properties, ...schema } = schemaOf(example) as { properties: Parts };
  return {
    operationId: `event.${type}`,
    summary: `${EVENT_DESCRIPTIONS[type]}.`,
    requestBody: {
      required: true,
      content: {
        "application/json": {
          schema: {
            ...schema,
            properties: {
              ...properties,
              type: { const: type, description: "The name of the event." },
              created_at: { ...properties.created_at, description: "When the event occurred." },
            },
          },
          example,
        },
      },
    },
    responses: {
      "2XX": {
        description:
          "The event is received. After any other status, or without a response in time, it is attempted again.",
      },
      410: { description: "The endpoint no longer exists. It is disabled." },
    },
  };
}

/** Objects whose names are those of users. */
const NAMED_BY_USERS: ReadonlySet<string> = new Set(["tags"]);

/** The schema of a sample. */
function schemaOf(sample: unknown): Schema {
  if (Array.isArray(sample))
    return { type: "array", items: sample.length > 0 ? schemaOf(sample[0]) : { type: "object" } };
  if (sample === null) return { type: ["string", "null"] };
  if (typeof sample === "string")
    return /^\d{4}-\d\d-\d\dT/.test(sample) ? { type: "string", format: "date-time" } : { type: "string" };
  if (typeof sample !== "object") return { type: typeof sample === "number" ? "integer" : "boolean" };
  return {
    type: "object",
    properties: Object.fromEntries(
      Object.entries(sample).map(([name, value]) => [
        name,
        {
          ...(NAMED_BY_USERS.has(name)
            ? { type: "object", additionalProperties: { type: "string" } }
            : schemaOf(value)),
          ...(FIELDS[name] && { description: FIELDS[name] }),
        },
      ]),
    ),
  };
}
