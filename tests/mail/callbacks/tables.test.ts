import { describe, expect, test } from "vitest";
import type { Callback, Scheme } from "#server/mail/callbacks/callback";
import { brevo, mailersend, mailjet, parseScalewayEvents, sparkpost } from "#server/mail/callbacks/tables";

const none: Callback = { bytes: Buffer.of(), header: () => null };

/** Kind and verdict of the only event that is read; null without one. */
function summaryOf(read: Pick<Scheme, "read">["read"], payload: unknown): string | null {
  const [event, ...others] = read(payload, none);
  expect(others).toEqual([]);
  return event ? [event.kind, event.verdict].filter(Boolean).join(" ") : null;
}

describe("Brevo", () => {
  const event = (change: object) => ({
    event: "delivered",
    email: "ben@example.com",
    ts_epoch: 1520363423000,
    "message-id": "<201803011158.9876543210@smtp-relay.mailin.fr>",
    ...change,
  });

  test.each([
    ["delivered", undefined, "delivered"],
    ["deferred", "421 Later", "delayed"],
    ["soft_bounce", "452 Full", "bounced"],
    ["invalid_email", undefined, "bounced hard"],
    ["blocked", "blocked : due to blacklist user", "bounced listed"],
    ["blocked", "The sender is not valid", "failed"],
    ["blocked", "Your account has no credits left", "failed"],
    ["error", undefined, "failed"],
    ["spam", undefined, "complained"],
    ["complaint", undefined, "complained"],
    ["unsubscribed", undefined, "unsubscribed"],
    ["request", undefined, null],
    ["opened", undefined, null],
    ["toString", undefined, null],
  ])("event %s with the reason %j is %s", (name, reason, expected) => {
    expect(summaryOf(brevo.read, event({ event: name, reason }))).toBe(expected);
  });

  test("events of the same email have different ids, and a repeated one has the same", () => {
    const [one, other] = ["deferred", "delivered"].map((name) => brevo.read(event({ event: name }), none)[0]);
    expect(one?.id).not.toBe(other?.id);
    expect(brevo.read(event({ event: "deferred" }), none)[0]?.id).toBe(one?.id);
  });
});

describe("Mailjet", () => {
  const event = (change: object) => [
    {
      time: 1433333949,
      MessageID: 19421777835146490,
      email: "ben@example.com",
      CustomID: "0198c5a2",
      ...change,
    },
  ];

  test.each([
    [{ event: "sent", smtp_reply: "sent (250 2.0.0 OK)" }, "delivered"],
    [{ event: "bounce", hard_bounce: true, blocked: true, error: "user unknown" }, "bounced blocked"],
    [{ event: "bounce", hard_bounce: true, blocked: false, error: "invalid domain" }, "bounced hard"],
    [{ event: "bounce", hard_bounce: false, blocked: false, error: "quota exceeded" }, "bounced"],
    [{ event: "bounce", hard_bounce: false, blocked: false, error: "greylisted" }, "delayed"],
    [{ event: "blocked", error: "preblocked" }, "bounced listed_bounce"],
    [{ event: "blocked", error: "spam reporter" }, "bounced listed_complaint"],
    [{ event: "blocked", error: "sender blocked" }, "failed"],
    [{ event: "blocked", error: "content blocked" }, "bounced"],
    [{ event: "spam", source: "JMRPP" }, "complained"],
    [{ event: "unsub", mj_list_id: 1 }, "unsubscribed"],
    [{ event: "open" }, null],
  ])("event %j is %s", (change, expected) => {
    expect(summaryOf(mailjet.read, event(change))).toBe(expected);
  });

  test("names the email by its custom id, and sends events one by one or in lists", () => {
    const [sent = {}] = event({ event: "unsub", mj_list_id: 1 });
    expect(mailjet.read(sent, none)).toMatchObject([{ providerId: "0198c5a2", lists: ["1"] }]);
    expect(mailjet.read([sent, null, 7, { ...sent, CustomID: "" }, sent], none)).toHaveLength(2);
  });
});

describe("SparkPost", () => {
  const event = (type: string, change: object) => [
    {
      msys: {
        any_event: {
          type,
          event_id: "92356927693813856",
          rcpt_to: "ben@example.com",
          raw_rcpt_to: "Ben@example.com",
          rcpt_meta: { backstamp: "0198c5a2" },
          timestamp: "1454442600",
          ...change,
        },
      },
    },
  ];

  test.each([
    ["delivery", {}, "delivered"],
    ["delay", { raw_reason: "451 4.3.0 Later" }, "delayed"],
    ["bounce", { bounce_class: "10", raw_reason: "550 5.1.1 Unknown" }, "bounced hard"],
    ["out_of_band", { bounce_class: "22", raw_reason: "552 5.2.2 Full" }, "bounced"],
    ["bounce", { bounce_class: "25", reason: "Recipient address was suppressed" }, "bounced listed"],
    ["bounce", { bounce_class: "25", reason: "550 5.7.1 Sending domain" }, "bounced"],
    ["bounce", { bounce_class: "60" }, null],
    ["out_of_band", { bounce_class: "90" }, "unsubscribed"],
    ["policy_rejection", { raw_reason: "550 5.7.1 Exceeded the daily limit" }, "failed"],
    ["policy_rejection", { raw_reason: "554 5.7.1 recipient address suppressed" }, "bounced listed"],
    ["generation_rejection", { reason: "suppressed due to customer policy" }, "bounced listed"],
    ["generation_failure", {}, "failed"],
    ["spam_complaint", { fbtype: "abuse" }, "complained"],
    ["list_unsubscribe", {}, "unsubscribed"],
    ["injection", {}, null],
  ])("event %s with %j is %s", (type, change, expected) => {
    expect(summaryOf(sparkpost.read, event(type, change))).toBe(expected);
  });
});

describe("Scaleway", () => {
  const event = (change: object) => ({
    id: "4d5b6e1e-9d0a-4fd0-8ad4-0a4d3bd4d0c3",
    type: "email_delivered",
    created_at: "2026-01-15T10:30:00Z",
    email_to: "ben@example.com",
    email_headers: [{ name: "message-id", value: "<0198c5a2@example.org>" }],
    ...change,
  });

  test.each([
    ["email_delivered", "delivered"],
    ["email_deferred", "delayed"],
    ["email_dropped", "bounced"],
    ["email_mailbox_not_found", "bounced hard"],
    ["email_spam", "bounced"],
    ["email_blocklisted", "bounced listed"],
    ["email_queued", null],
    ["blocklist_created", null],
  ])("event %s is %s", (type, expected) => {
    expect(summaryOf(parseScalewayEvents, event({ type }))).toBe(expected);
  });

  test("is about the email that its headers name", () => {
    const headers = [{ key: "Message-ID", value: "<0198c5a2@example.org>" }];
    for (const email_headers of [event({}).email_headers, headers])
      expect(parseScalewayEvents(event({ email_headers }))[0]?.providerId).toBe("0198c5a2@example.org");
    expect(parseScalewayEvents(event({ email_headers: [] }))).toEqual([]);
  });
});

test.each([
  ["delivered", "delivered"],
  ["deferred", "delayed"],
  ["soft_bounced", "bounced"],
  ["hard_bounced", "bounced hard"],
  ["spam_complaint", "complained"],
  ["unsubscribed", "unsubscribed"],
  ["opened", null],
])("MailerSend's activity.%s is %s", (type, expected) => {
  const email = { message: { id: "63fd25194d5edba3da09e044" }, recipient: { email: "ben@example.com" } };
  const morph = { object: "recipient_bounce", reason: "Host or domain name not found" };
  const data = { id: "63fd1c1fcfbe46145d003a7b", created_at: "2023-02-27T21:09:51.865000Z", email, morph };
  const payload = { type: `activity.${type}`, data };
  expect(summaryOf(mailersend.read, payload)).toBe(expected);
  if (expected !== null)
    expect(mailersend.read(payload, none)).toMatchObject([
      { providerId: "63fd25194d5edba3da09e044", recipients: ["ben@example.com"] },
    ]);
});

test("payloads of any other form are read as no event", () => {
  for (const odd of [null, 7, "x", [], [[]], {}, { msys: 1 }, { msys: { a: { type: {} } } }, { type: ["x"] }])
    for (const read of [brevo.read, mailjet.read, sparkpost.read, mailersend.read, parseScalewayEvents])
      expect(read(odd, none)).toEqual([]);
});
