import { describe, expect, test } from "vitest";
import { EVENT_TYPES, type EventData } from "#db/schema/events";
import { emailPayload, type PayloadSource } from "#server/services/webhooks/events/payload";

const source = (fields: Partial<PayloadSource> = {}): PayloadSource => ({
  type: "email.delivered",
  recipient: "ben@example.net",
  data: {},
  createdAt: new Date("2026-03-01T10:00:01.500Z"),
  sequence: 3,
  emailId: "0199a000-0000-7000-8000-000000000001",
  emailCreatedAt: new Date("2026-03-01T10:00:00Z"),
  messageId: "0199a000@example.org",
  sender: "Ann <ann@example.org>",
  to: ["ben@example.net", "cy@example.net"],
  subject: "Grüße",
  tags: [],
  headers: [],
  templateId: null,
  ...fields,
});
const payloadOf = (fields: Partial<PayloadSource> = {}) => JSON.parse(emailPayload(source(fields)));

const COMMON = {
  email_id: "0199a000-0000-7000-8000-000000000001",
  created_at: "2026-03-01T10:00:00.000Z",
  message_id: "<0199a000@example.org>",
  from: "Ann <ann@example.org>",
  to: ["ben@example.net"],
  subject: "Grüße",
  sequence: 3,
};

test("an event of a recipient names only that recipient, without empty fields", () => {
  expect(payloadOf()).toEqual({
    type: "email.delivered",
    created_at: "2026-03-01T10:00:01.500Z",
    data: COMMON,
  });
});

test("an event of the whole email names all its recipients", () => {
  expect(payloadOf({ type: "email.queued", recipient: null }).data.to).toEqual([
    "ben@example.net",
    "cy@example.net",
  ]);
});

test("tags are an object, headers an array, and the template an id, each only if present", () => {
  const { data } = payloadOf({
    tags: [
      { name: "campaign", value: "spring" },
      { name: "__proto__", value: "x" },
    ],
    headers: [{ name: "X-Ref", value: "7" }],
    templateId: "0199a000-0000-7000-8000-0000000000aa",
  });
  expect(Object.entries(data.tags)).toEqual([
    ["campaign", "spring"],
    ["__proto__", "x"],
  ]);
  expect(data.headers).toEqual([{ name: "X-Ref", value: "7" }]);
  expect(data.template_id).toBe("0199a000-0000-7000-8000-0000000000aa");
});

describe("a bounce in the format of the Resend API", () => {
  const reply = (code: number | null, enhanced: string | null) => ({ code, enhanced, text: "User unknown" });
  test.each([
    [550, "5.1.1", "Permanent", "NoEmail"],
    [550, "5.1.10", "Permanent", "NoEmail"],
    [550, "5.2.1", "Permanent", "NoEmail"],
    [552, "5.2.2", "Permanent", "MailboxFull"],
    [552, null, "Permanent", "MailboxFull"],
    [552, "5.3.4", "Permanent", "MessageTooLarge"],
    [554, "5.6.0", "Permanent", "ContentRejected"],
    [550, "5.7.1", "Permanent", "General"],
    [550, null, "Permanent", "General"],
    [451, "4.7.1", "Transient", "General"],
    [null, null, "Undetermined", "General"],
  ])("%s %s is %s, %s", (code, enhanced, type, subType) => {
    const { bounce } = payloadOf({
      type: "email.bounced",
      data: { reply: reply(code, enhanced), reason: "Rejected." },
    }).data;
    expect(bounce).toMatchObject({ type, subType, message: "Rejected." });
    expect(bounce.diagnosticCode).toEqual([
      `smtp; ${[code, enhanced, "User unknown"].filter(Boolean).join(" ")}`,
    ]);
  });

  test.each([
    ["reputation", "General"],
    ["hard", "NoEmail"],
    ["quota", "MailboxFull"],
    ["size", "MessageTooLarge"],
    ["content", "ContentRejected"],
  ])("of the class %s is %s whatever its code, with advice", (errorClass, subType) => {
    const data = { reply: reply(550, "5.1.1"), reason: "Rejected.", class: errorClass, advice: "Do this." };
    expect(payloadOf({ type: "email.bounced", data }).data.bounce).toMatchObject({
      type: "Permanent",
      subType,
      class: errorClass,
      advice: "Do this.",
    });
  });

  test("without a reply is undetermined", () => {
    expect(payloadOf({ type: "email.bounced" }).data.bounce).toEqual({
      type: "Undetermined",
      subType: "Undetermined",
      message: expect.any(String),
      diagnosticCode: [],
    });
  });
});

test("failed, suppressed and unknown include the reason", () => {
  expect(payloadOf({ type: "email.failed", data: { reason: "Given up." } }).data.failed).toEqual({
    reason: "Given up.",
  });
  const suppressed = (suppressedBy?: EventData["suppressedBy"]) =>
    payloadOf({ type: "email.suppressed", data: { reason: "On the list.", suppressedBy } }).data.suppressed;
  expect(suppressed("previous_bounce")).toEqual({
    type: "OnAccountSuppressionList",
    message: "On the list.",
    reason: "previous_bounce",
    diagnosticCode: [],
  });
  expect(suppressed("previous_complaint").reason).toBe("previous_complaint");
  expect(suppressed()).toEqual({ type: "Suppressed", message: "On the list.", diagnosticCode: [] });
  expect(
    payloadOf({ type: "email.unknown", data: { reason: "Cut off.", policy: "hold" } }).data.unknown,
  ).toEqual({ reason: "Cut off.", policy: "hold" });
});

test.each(EVENT_TYPES)("%s stays below 20 KB with email and server content of any size", (type) => {
  const long = 'ä€😀\\"\n'.repeat(20_000);
  const text = emailPayload(
    source({
      type,
      recipient: null,
      to: Array.from({ length: 150 }, (_, n) => `${n}${"x".repeat(300)}@example.net`),
      subject: "😀".repeat(2_000),
      tags: Array.from({ length: 75 }, (_, n) => ({
        name: `${n}${"n".repeat(250)}`,
        value: "v".repeat(256),
      })),
      headers: Array.from({ length: 50 }, (_, n) => ({ name: `X-${n}`, value: "h".repeat(900) })),
      data: { reason: long, reply: { code: 550, enhanced: "5.1.1", text: long } },
    }),
  );
  expect(Buffer.byteLength(text)).toBeLessThan(20_000);
  const { data } = JSON.parse(text);
  expect(data).toMatchObject({ email_id: COMMON.email_id, message_id: COMMON.message_id, sequence: 3 });
  expect(data.truncated).toContain("headers");
  expect(data.subject.isWellFormed()).toBe(true);
});

test("opened and clicked describe the visit in the format of the Resend API, with the kind of visitor", () => {
  const visit = {
    by: "proxy",
    name: "Gmail image proxy",
    address: "203.0.113.7",
    agent: "Mozilla/5.0 (via ggpht.com GoogleImageProxy)",
  } as const;
  const expected = {
    ipAddress: visit.address,
    timestamp: "2026-03-01T10:00:01.500Z",
    userAgent: visit.agent,
    by: "proxy",
    by_name: visit.name,
  };
  expect(payloadOf({ type: "email.opened", data: { visit } }).data).toEqual({ ...COMMON, open: expected });
  const link = "https://example.com/?a=1";
  expect(payloadOf({ type: "email.clicked", data: { visit: { ...visit, link } } }).data).toEqual({
    ...COMMON,
    click: { ...expected, link },
  });
});
