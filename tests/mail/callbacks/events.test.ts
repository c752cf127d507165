import { describe, expect, test } from "vitest";
import type { Callback } from "#server/mail/callbacks/callback";
import { mailgun } from "#server/mail/callbacks/mailgun";
import { postmark } from "#server/mail/callbacks/postmark";
import { resend } from "#server/mail/callbacks/resend";
import { sendgrid } from "#server/mail/callbacks/sendgrid";

const none: Callback = { bytes: Buffer.of(), header: () => null };
const kindsOf = (reports: { kind: string }[]) => reports.map(({ kind }) => kind);

describe("Postmark reports", () => {
  const event = (change: object) =>
    postmark.read(
      {
        RecordType: "Bounce",
        ID: 42,
        Type: "HardBounce",
        TypeCode: 1,
        MessageID: "00000000-0000-0000-0000-000000000000",
        Details: "smtp;550 5.1.1 The email account that you tried to reach does not exist.",
        Email: "john@example.com",
        BouncedAt: "2005-07-04T12:46:31.3-04:00",
        ...change,
      },
      none,
    );

  test("contain the reply of the destination to a bounce, and its time", () => {
    expect(event({})).toEqual([
      {
        id: "Bounce 42",
        kind: "bounced",
        recipients: ["john@example.com"],
        providerId: "00000000-0000-0000-0000-000000000000",
        messageId: null,
        reply: {
          code: 550,
          enhanced: "5.1.1",
          text: "The email account that you tried to reach does not exist.",
        },
        host: null,
        appliesToAllRecipients: true,
        at: new Date("2005-07-04T16:46:31.300Z"),
      },
    ]);
  });

  test.each([
    ["HardBounce", "bounced"],
    ["SoftBounce", "bounced"],
    ["BadEmailAddress", "bounced"],
    ["Transient", "delayed"],
    ["DnsError", "delayed"],
    ["SpamComplaint", "complained"],
    ["AutoResponder", null],
    ["AddressChange", null],
    ["ChallengeVerification", null],
    ["Unsubscribe", "unsubscribed"],
    ["toString", null],
    [undefined, null],
  ])("by the type %s of %s", (Type, kind) => {
    expect(kindsOf(event({ Type }))).toEqual(kind === null ? [] : [kind]);
  });

  test("say that Postmark sends no more email to an address", () => {
    expect(event({ Inactive: true })).toMatchObject([{ kind: "bounced", verdict: "blocked" }]);
    expect(event({ Inactive: false })[0]).not.toHaveProperty("verdict");
    expect(event({ Type: "Transient", Inactive: true })[0]).not.toHaveProperty("verdict");
  });

  test("of a changed subscription count if the recipient unsubscribed", () => {
    const change = {
      RecordType: "SubscriptionChange",
      ID: undefined,
      MessageStream: "broadcast",
      ChangedAt: "2020-02-01T10:53:34.416071Z",
      Recipient: "ben@example.com",
      Origin: "Recipient",
      SuppressSending: true,
      SuppressionReason: "ManualSuppression",
      Metadata: { backstamp: "0198c5a2" },
    };
    expect(event(change)).toMatchObject([
      { kind: "unsubscribed", recipients: ["ben@example.com"], providerId: "0198c5a2", lists: ["broadcast"] },
    ]);
    for (const odd of [
      { SuppressSending: false, SuppressionReason: null },
      { SuppressionReason: "HardBounce" },
      { Origin: "Customer" },
    ])
      expect(event({ ...change, ...odd })).toEqual([]);
  });

  test("prove an invalid address without a reply code; the type HardBounce alone does not", () => {
    expect(event({ Type: "BadEmailAddress", Details: "" })[0]?.reply.enhanced).toBe("5.1.3");
    expect(event({ Details: "" })[0]?.reply.enhanced).toBeNull();
  });

  test("that do not concern a delivery are ignored", () => {
    for (const RecordType of ["Open", "Click", "SubscriptionChange", "Inbound", undefined])
      expect(event({ RecordType })).toEqual([]);
    for (const odd of [{ MessageID: null }, { MessageID: "a\u0000b" }]) expect(event(odd)).toEqual([]);
  });
});

describe("Mailgun reports", () => {
  const event = (change: object) =>
    mailgun.read(
      {
        "event-data": {
          id: "G9Bn5sl1TC6nu79C8C0bwg",
          timestamp: 1521233195.375624,
          event: "failed",
          severity: "permanent",
          reason: "suppress-bounce",
          recipient: "alice@example.com",
          message: { headers: { "message-id": "20130503192659.13651.20287@mg.example.com" } },
          "delivery-status": { code: 605, message: "", description: "Not delivering to previously bounced" },
          ...change,
        },
      },
      none,
    );

  test("of a permanent failure can have a code of Mailgun, which is not an SMTP code", () => {
    expect(event({})).toMatchObject([
      {
        id: "G9Bn5sl1TC6nu79C8C0bwg 1521233195.375624",
        kind: "bounced",
        recipients: ["alice@example.com"],
        providerId: "20130503192659.13651.20287@mg.example.com",
        messageId: "20130503192659.13651.20287@mg.example.com",
        reply: { code: null, enhanced: null, text: "Not delivering to previously bounced" },
        at: new Date(1521233195375.624),
      },
    ]);
  });

  test("contain the reply of the destination, with the enhanced code in a separate field", () => {
    const status = {
      code: 550,
      "enhanced-code": "5.1.1",
      message: "No such user",
      "mx-host": "mx.example.com",
    };
    expect(event({ reason: "bounce", "delivery-status": status })).toMatchObject([
      { reply: { code: 550, enhanced: "5.1.1", text: "No such user" }, host: "mx.example.com" },
    ]);
  });

  test("include delays and complaints; events that do not concern a delivery are ignored", () => {
    expect(kindsOf(event({ severity: "temporary" }))).toEqual(["delayed"]);
    expect(kindsOf(event({ event: "complained" }))).toEqual(["complained"]);
    expect(event({ event: "delivered", "delivery-status": { code: 250, message: "OK" } })).toMatchObject([
      { kind: "delivered", reply: { code: 250, text: "OK" } },
    ]);
    for (const name of ["accepted", "opened", "clicked", "stored", 7])
      expect(event({ event: name })).toEqual([]);
  });

  test.each([
    [605, undefined, "listed_bounce"],
    [606, undefined, "listed_unsubscribe"],
    [607, undefined, "listed_complaint"],
    [0, "suppress-bounce", "listed_bounce"],
    [0, "suppress-unsubscribe", "listed_unsubscribe"],
    [0, "suppress-complaint", "listed_complaint"],
    [550, "bounce", "hard"],
    [550, "generic", undefined],
  ])("with the code %d and the reason %s are %s", (code, reason, verdict) => {
    const status = { code, message: "", description: "Not delivering" };
    const [report] = event({ reason, "delivery-status": status });
    expect({ kind: report?.kind, verdict: report?.verdict }).toEqual({ kind: "bounced", verdict });
  });

  test("of a rejection by Mailgun concern the account; unsubscribes count", () => {
    const reject = { reason: "Sandbox subdomains are for test purposes only." };
    const message = { headers: { "message-id": "1@mg.example.com", to: "Al <alice@example.com>" } };
    const rejected = { event: "rejected", reject, "delivery-status": null, recipient: undefined, message };
    expect(event(rejected)).toMatchObject([
      { kind: "failed", recipients: ["alice@example.com"], reply: { code: null, text: reject.reason } },
    ]);
    expect(event({ event: "unsubscribed" })).toMatchObject([
      { kind: "unsubscribed", recipients: ["alice@example.com"] },
    ]);
  });
});

describe("SendGrid reports", () => {
  const common = {
    email: "example@test.com",
    timestamp: 1513299569,
    "smtp-id": "<14c5d75ce93.dfd.64b469@ismtpd-555>",
    sg_event_id: "sg-1",
    sg_message_id: "14c5d75ce93.dfd.64b469.filter0001.16648.5515E0B88.0",
  };

  test("about several emails come in one callback, each with the id from the SMTP reply", () => {
    const reports = sendgrid.read(
      [
        { ...common, event: "processed" },
        { ...common, event: "deferred", response: "400 try again later", attempt: "5" },
        { ...common, event: "delivered", response: "250 OK" },
        { ...common, event: "open" },
        { ...common, event: "bounce", reason: "500 unknown recipient", status: "5.0.0", type: "bounce" },
        { ...common, event: "dropped", reason: "Bounced Address", status: "5.0.0" },
        { ...common, event: "spamreport" },
        { ...common, event: "group_unsubscribe", asm_group_id: 10 },
        { ...common, event: "group_resubscribe", asm_group_id: 10 },
        null,
      ],
      none,
    );
    expect(kindsOf(reports)).toEqual([
      "delayed",
      "delivered",
      "bounced",
      "bounced",
      "complained",
      "unsubscribed",
    ]);
    expect(reports[5]?.lists).toEqual(["10"]);
    expect(reports[2]).toEqual({
      id: "sg-1",
      kind: "bounced",
      verdict: "hard",
      recipients: ["example@test.com"],
      providerId: "14c5d75ce93.dfd.64b469",
      messageId: "14c5d75ce93.dfd.64b469@ismtpd-555",
      reply: { code: 500, enhanced: "5.0.0", text: "unknown recipient" },
      host: null,
      appliesToAllRecipients: true,
      at: new Date(1513299569000),
    });
    // No server was contacted, so there is no reply code.
    expect(reports[3]?.reply).toEqual({ code: null, enhanced: null, text: "Bounced Address" });
  });

  test.each([
    ["Bounced Address", "bounced", "listed_bounce"],
    ["Invalid", "bounced", "listed_bounce"],
    ["Spam Reporting Address", "bounced", "listed_complaint"],
    ["Unsubscribed Address", "bounced", "listed_unsubscribe"],
    ["Recipient List over Package Quota", "failed", undefined],
    ["Maximum credits exceeded", "failed", undefined],
    ["Spam Content", "bounced", undefined],
  ])("of an email that was dropped for %j are %s, %s", (reason, kind, verdict) => {
    const [report] = sendgrid.read([{ ...common, event: "dropped", reason }], none);
    expect({ kind: report?.kind, verdict: report?.verdict }).toEqual({ kind, verdict });
    const [blocked] = sendgrid.read([{ ...common, event: "bounce", type: "blocked", reason }], none);
    expect(blocked?.verdict).toBeUndefined();
  });

  test.each([
    ["nhIMmON9SFOPcT0ii4nt2A.recvd-5d8bc5c7d-w7m4x-1-65A0B1C2-3.0", "nhIMmON9SFOPcT0ii4nt2A"],
    ["142d9f3f351.7618.254f56.filter-147.22649.52A663508.0", "142d9f3f351.7618.254f56"],
    ["nhIMmON9SFOPcT0ii4nt2A", "nhIMmON9SFOPcT0ii4nt2A"],
    ["", null],
    [undefined, null],
  ])("of the email with sg_message_id %s", (sg_message_id, providerId) => {
    const [reports] = sendgrid.read([{ ...common, event: "delivered", sg_message_id }], none);
    expect(reports?.providerId).toBe(providerId);
  });
});

describe("Resend reports", () => {
  const callback: Callback = { bytes: Buffer.of(), header: (name) => (name === "svix-id" ? "msg_1" : null) };
  const event = (type: string, data: object = {}) =>
    resend.read(
      {
        type,
        created_at: "2024-11-22T23:41:12.126Z",
        data: {
          email_id: "56761188-7520-42d8-8898-ff6fc54ce618",
          to: ["Jane <delivered@resend.dev>"],
          ...data,
        },
      },
      callback,
    );

  test("of a bounce contain the reply of the destination, if there is one", () => {
    const bounce = {
      type: "Permanent",
      subType: "General",
      message: "The recipient's email provider sent a general bounce message.",
      diagnosticCode: ["smtp; 550 5.1.1 user unknown"],
    };
    expect(event("email.bounced", { bounce })).toEqual([
      {
        id: "msg_1",
        kind: "bounced",
        verdict: "hard",
        recipients: ["delivered@resend.dev"],
        providerId: "56761188-7520-42d8-8898-ff6fc54ce618",
        messageId: null,
        reply: { code: 550, enhanced: "5.1.1", text: "user unknown" },
        host: null,
        appliesToAllRecipients: true,
        at: new Date("2024-11-22T23:41:12.126Z"),
      },
    ]);
    const noEmail = { ...bounce, subType: "NoEmail", diagnosticCode: null };
    expect(event("email.bounced", { bounce: noEmail })[0]?.reply.enhanced).toBe("5.1.1");
    const listed = { ...bounce, subType: "OnAccountSuppressionList" };
    expect(event("email.bounced", { bounce: listed })[0]).toMatchObject({
      verdict: "listed",
      reply: { code: null, enhanced: null },
    });
    const message = "Resend has suppressed sending: it is on the account-level suppression list.";
    expect(event("email.bounced", { bounce: { message } })[0]?.verdict).toBe("listed");
    expect(event("email.suppressed")[0]?.verdict).toBe("listed");
    expect(event("email.bounced", { bounce: { type: "Transient", subType: "General" } })[0]?.verdict).toBe(
      undefined,
    );
  });

  test.each([
    ["email.delivered", ["delivered"]],
    ["email.delivery_delayed", ["delayed"]],
    ["email.complained", ["complained"]],
    ["email.failed", ["failed"]],
    ["email.suppressed", ["bounced"]],
    ["email.sent", []],
    ["email.opened", []],
    ["domain.updated", []],
    ["__proto__", []],
  ])("by the event %s of %j", (type, kinds) => {
    expect(kindsOf(event(type))).toEqual(kinds);
  });

  test("about one of several recipients do not name it, so they are ambiguous", () => {
    expect(event("email.complained", { to: ["a@example.com", "b@example.com"] })).toMatchObject([
      { recipients: ["a@example.com", "b@example.com"], appliesToAllRecipients: false },
    ]);
  });
});
