import { describe, expect, test } from "vitest";
import { isComplaint } from "#server/mail/bounce/feedback";
import { interpretReported } from "#server/mail/bounce/judge";
import { parseReport } from "#server/mail/bounce/read-report";
import type { Report, Reported } from "#server/mail/bounce/report";
import { arf, dsn, failed, letter, PLAIN_BOUNCES } from "./messages";

function delivery(bytes: Uint8Array): Extract<Report, { kind: "delivery" }> {
  const report = parseReport(bytes);
  if (report?.kind !== "delivery") throw new Error(`a report of kind ${report?.kind}`);
  return report;
}

const only = (bytes: Uint8Array): Reported => {
  const { reported } = delivery(bytes);
  expect(reported).toHaveLength(1);
  return reported[0] as Reported;
};

describe("a report in the format of RFC 3464", () => {
  test("contains the action, the host and the reply for each recipient", () => {
    const report = delivery(
      dsn({
        recipients: [
          failed("ben@example.net", "550 5.1.1 <ben@example.net>... User unknown", "5.1.1"),
          "Final-Recipient: rfc822;cy@example.net\nAction: delayed\nStatus: 4.4.1 (no answer)\nWill-Retry-Until: Mon, 23 Nov 2026 10:00:00 +0000\n",
          "Final-Recipient: rfc822;di@example.net\nAction: delivered (to mailbox)\nStatus: 2.1.5\n",
          "Final-Recipient: rfc822;ed@example.net\nAction: relayed\nStatus: 2.0.0\n",
          "Final-Recipient: rfc822;list@example.net\nAction: expanded\nStatus: 2.0.0\n",
          "Final-Recipient: rfc822;fay@example.net\nAction: vanished\nStatus: 5.0.0\n",
        ],
      }),
    );
    expect(report.reported).toEqual([
      {
        action: "failed",
        recipients: ["ben@example.net"],
        reply: { code: 550, enhanced: "5.1.1", text: "<ben@example.net>... User unknown" },
        host: "mx.example.net",
      },
      expect.objectContaining({
        action: "delayed",
        recipients: ["cy@example.net"],
        reply: { code: null, enhanced: "4.4.1", text: "no answer" },
      }),
      expect.objectContaining({ action: "delivered", recipients: ["di@example.net"] }),
      expect.objectContaining({ action: "relayed" }),
      expect.objectContaining({ action: "expanded", recipients: ["list@example.net"] }),
    ]);
    expect(report.about).toMatchObject({
      returnPaths: ["bounce-token@bounces.example.com"],
      unsubscribeLinks: ["https://mail.example.com/api/unsubscribe/tkn"],
      messageId: "0198c1f2-7a34-7c5e-9b0d-3f4a5b6c7d8e@example.org",
    });
  });

  test("contains the original recipient first, then the final one", () => {
    const block = `Original-Recipient: rfc822; ben@example.net\n${failed("b.smith@inner.example", "550 gone")}`;
    expect(only(dsn({ recipients: [block] })).recipients).toEqual([
      "ben@example.net",
      "b.smith@inner.example",
    ]);
  });

  test("is parsed if its part is encoded, internationalized, or has its fields in another order", () => {
    const block =
      "Action: failed\nOriginal-Recipient: utf-8; d\\x{FC}rst@example.net\nDiagnostic-Code: smtp; 550 5.1.1 unbekannt\nStatus: 5.1.1\n";
    const bytes = dsn({
      recipients: [block],
      status: { type: "message/global-delivery-status", encoding: "base64" },
      returned: { type: "message/global-headers" },
    });
    expect(only(bytes)).toMatchObject({ action: "failed", recipients: ["dürst@example.net"] });
    expect(delivery(bytes).about.messageId).toMatch(/@example\.org$/);
  });

  test("is parsed without the per-message fields, with additional blank lines, and with the last line missing", () => {
    const bytes = dsn({
      recipients: [`\n\n${failed("ben@example.net", "550 5.1.1 no")}`],
      status: { head: "" },
    });
    expect(only(bytes).reply).toMatchObject({ code: 550, enhanced: "5.1.1" });
    const cut = bytes.subarray(0, bytes.lastIndexOf("--=_one"));
    expect(only(cut).reply).toMatchObject({ code: 550, enhanced: "5.1.1" });
  });

  test("has the same id whenever and however it arrives, and another report has another id", () => {
    const one = dsn({ recipients: [failed("ben@example.net", "550 no")] });
    const later = Buffer.concat([Buffer.from("Received: from b by c; later\r\n"), one]);
    const other = dsn({ recipients: [failed("ben@example.net", "550 no")], id: "report-2" });
    expect(delivery(later).id).toBe(delivery(one).id);
    expect(delivery(other).id).not.toBe(delivery(one).id);
  });
});

describe("a bounce in no standard format", () => {
  const EXPECTED: Record<string, [address: string, code: number | null, enhanced: string | null][]> = {
    qmail: [
      ["ben@example.net", null, "5.1.1"],
      ["cy@example.net", 552, "5.2.2"],
    ],
    exim: [
      ["ben@example.net", 550, "5.1.1"],
      ["cy@example.net", null, null],
    ],
    "old Exchange": [["ben@example.net", null, null]],
    "newer Exchange": [["ben@example.net", 550, "5.1.1"]],
    Postfix: [["ben@example.net", 550, "5.1.1"]],
    sendmail: [["ben@example.net", 550, "5.1.1"]],
    Gmail: [["ben@example.net", 550, "5.1.1"]],
  };

  test.each(Object.entries(EXPECTED))("of %s is parsed", (name, expected) => {
    const { reported, about } = delivery(PLAIN_BOUNCES[name] ?? Buffer.alloc(0));
    expect(reported.map(({ action }) => action)).toEqual(expected.map(() => "failed"));
    expect(reported.map(({ recipients: [address], reply }) => [address, reply.code, reply.enhanced])).toEqual(
      expected,
    );
    if (name !== "old Exchange") expect(about.messageId).toMatch(/@example\.org$/);
  });

  test("that announces further attempts is a delay", () => {
    const bytes = letter(
      "From: Mailer-Daemon@mx.example.net\nSubject: Warning: message delayed 24 hours\n",
      "This message was created automatically by mail delivery software.\nA message that you sent has not yet been delivered to one or more of its\nrecipients after more than 24 hours on the queue.\n\nThe address to which the message has not yet been delivered is:\n\n  ben@example.net\n\nNo action is required on your part. Delivery attempts will continue.\n",
    );
    expect(only(bytes)).toMatchObject({ action: "delayed", recipients: ["ben@example.net"] });
  });

  test("is not detected in a personal message", () => {
    const words = "Delivery has failed to these recipients:\n\nben@example.net\n550 5.1.1 unknown\n";
    expect(
      parseReport(letter("From: Ben <ben@example.net>\nSubject: what does that mean?\n", words)),
    ).toEqual({
      kind: "other",
    });
  });
});

describe("a complaint", () => {
  const FIELDS =
    "Feedback-Type: Abuse\nUser-Agent: SomeGenerator/1.0\nVersion: 1\nOriginal-Mail-From: <bounce-other@bounces.example.com>\nOriginal-Rcpt-To: <ben@example.net>\nArrival-Date: Sat, 21 Nov 2026 10:00:00 +0000\nReported-Domain: example.org\n";

  test("is parsed with its type, its recipient, and everything that identifies the email", () => {
    expect(parseReport(arf(FIELDS))).toMatchObject({
      kind: "complaint",
      feedbackType: "abuse",
      recipients: ["ben@example.net"],
      about: {
        returnPaths: [
          "fbl@example.com",
          "bounce-other@bounces.example.com",
          "bounce-token@bounces.example.com",
        ],
        unsubscribeLinks: ["https://mail.example.com/api/unsubscribe/tkn"],
        messageId: "0198c1f2-7a34-7c5e-9b0d-3f4a5b6c7d8e@example.org",
      },
    });
  });

  test("in an email of Amazon SNS names the recipients", () => {
    const complaint = { complainedRecipients: [{ emailAddress: "ben@example.net" }], feedbackId: "f1" };
    const json = JSON.stringify({
      notificationType: "Complaint",
      complaint: { ...complaint, timestamp: "2026-11-21T10:00:00.000Z" },
      mail: { messageId: "0100", destination: ["ben@example.net"] },
    });
    const bytes = letter(
      "From: SES <no-reply@sns.amazonaws.com>\nSubject: AWS Notification\n",
      `${json}\n\n--\nx\n`,
    );
    expect(parseReport(bytes)).toMatchObject({ kind: "complaint", recipients: ["ben@example.net"] });
  });

  test("of an unknown type has the type other", () => {
    expect(parseReport(arf(FIELDS.replace("Abuse", "annoyance")))).toMatchObject({ feedbackType: "other" });
  });

  test.each([
    ["Re: complaint about message from 192.0.2.1", "This is an email abuse report that I wrote about.\n"],
    ["Hello", "We received this:\nVersion: 1\nFeedback-Type: abuse\n"],
  ])("is not detected in a personal message: %s", (subject, text) => {
    expect(parseReport(letter(`From: Ben <ben@example.net>\nSubject: ${subject}\n`, text))?.kind).toBe(
      "other",
    );
  });

  test.each([
    ["", "Auth-Failure: dmarc\n", "auth-failure"],
    ["This is an authentication failure report for a message.", "Version: 1\n", "auth-failure"],
    ["", "Feedback-Type: not-spam\n", "not-spam"],
    ["", "Feedback-Type: virus\n", "virus"],
  ])("is no complaint of a recipient if it is about something else: %s%s", (words, fields, type) => {
    const bytes = Buffer.from(
      arf(fields).toString("latin1").replace("This is an email abuse report.", words),
    );
    expect(parseReport(bytes)).toMatchObject({ kind: "complaint", feedbackType: type });
    expect(isComplaint(type)).toBe(false);
  });
});

describe("an automatic reply is not a bounce", () => {
  const ABSENT = "I am away until Monday. Your message could not be delivered to me personally.\n";
  test.each([
    "Auto-Submitted: auto-replied\n",
    "Auto-Submitted: auto-generated (vacation)\n",
    "Precedence: auto_reply\n",
    "X-Autoreply: yes\n",
    "X-Auto-Response-Suppress: All\n",
  ])("with %j", (head) => {
    const bytes = letter(`From: Ben <ben@example.net>\nSubject: Out of office\n${head}`, ABSENT);
    expect(parseReport(bytes)?.kind).toBe("auto-reply");
  });

  test("neither is a personal message, a read receipt, or an empty message", () => {
    expect(parseReport(letter("From: ben@example.net\nAuto-Submitted: no\n", "Thanks!\n"))).toEqual({
      kind: "other",
    });
    const read = `From: ben@example.net\nContent-Type: multipart/report; report-type=disposition-notification; boundary=b\n`;
    const parts = `--b\nContent-Type: message/disposition-notification\n\nDisposition: manual-action/MDN-sent-manually; displayed\n--b--\n`;
    expect(parseReport(letter(read, parts))).toEqual({ kind: "other" });
    expect(parseReport(Buffer.alloc(0))).toBeNull();
    expect(parseReport(Buffer.from("\r\n\r\nx"))).toBeNull();
    expect(parseReport(Buffer.from([0xff, 0xfe, 0x00]))).toBeNull();
  });
});

describe("a reported failure", () => {
  const judged = (diagnostic: string, status?: string) =>
    interpretReported(only(dsn({ recipients: [failed("ben@example.net", diagnostic, status)] })));

  test.each([
    ["550 5.1.1 User unknown", "5.1.1", "hard", true],
    ["550 User unknown", "5.1.1", "hard", true],
    ["552 5.2.2 Mailbox full", "5.2.2", "quota", false],
    ["550 5.7.1 Message rejected as spam", "5.7.1", "content", false],
    ["550 5.7.26 unauthenticated mail", "5.7.26", "auth", false],
    ["550 5.1.1 blocked using zen.spamhaus.org", "5.1.1", "reputation", false],
    ["451 4.4.7 Message expired", "4.4.7", "soft", false],
    ["550 User unknown", "5.0.0", "hard", true],
  ])("%j with status %s has the class %s", (diagnostic, status, about, isDead) => {
    const found = judged(diagnostic, status);
    expect(found).toMatchObject({ class: about, isDead });
    expect(found.reason).toMatch(/^Bounced after it was accepted: /);
  });

  test("without details has the class other, and the address is not dead", () => {
    const [reported] = delivery(
      dsn({ recipients: ["Final-Recipient: rfc822; ben@example.net\nAction: failed\n"] }),
    ).reported as [Reported];
    expect(interpretReported(reported)).toMatchObject({ class: "other", isDead: false });
  });
});

describe("malicious input", () => {
  // A parser that is not linear exceeds the time limit of a test.
  const n = 1_000_000;
  const head = "Content-Type: multipart/report; boundary=b\r\nFrom: mailer-daemon@example.net\r\n";

  test.each<[string, string]>([
    ["boundaries", `${head}\r\n${"--b\r\n\r\n".repeat(n / 6)}`],
    ["boundaries that are none", `${head}\r\n${"--bx\r\n".repeat(n / 6)}`],
    ["header fields", "A: b\r\n".repeat(n / 6)],
    ["one folded field", `Subject: x${"\r\n x".repeat(n / 4)}`],
    ["one long line", `Subject: ${"x".repeat(n)}`],
    ["quotes in a type", `Content-Type: multipart/report; a=${'"\\'.repeat(n / 2)}`],
    ["semicolons in a type", `Content-Type: multipart/mixed${";".repeat(n)}`],
    ["phrases of servers", `From: mailer-daemon@a.b\n\nunable to deliver\n${"said: 55".repeat(n / 8)}`],
    ["addresses", `From: mailer-daemon@a.b\n\nunable to deliver\n${"<a@b.c>:\n".repeat(n / 9)}`],
    ["at signs", `From: mailer-daemon@a.b\n\nunable to deliver\n${"a@".repeat(n / 2)}`],
    [
      "equals signs",
      `Content-Transfer-Encoding: quoted-printable\nFrom: postmaster@a.b\n\n${"=  ".repeat(n / 3)}`,
    ],
    [
      "tags",
      `${head.replace("multipart/report; boundary=b", "text/html")}\n${"<p><b title='".repeat(n / 13)}`,
    ],
    ["lines like an undeclared boundary", `From: mailer-daemon@a.b\n\n${"--b\nContent-\n".repeat(n / 13)}`],
    [
      "reports in reports",
      `${head}\n${"--b\nContent-Type: message/rfc822\n\nContent-Type: multipart/report; boundary=b\n\n".repeat(n / 82)}`,
    ],
    ["statements", `From: mailer-daemon@a.b\n\n${"could not be delivered to a@b.c ".repeat(n / 32)}`],
    ["failed recipients", `X-Failed-Recipients: ${"a@b.c,".repeat(n / 6)}\n\nx`],
    ["dots where an address stands", `X-Failed-Recipients: ${".:".repeat(1_900)}x\n`.repeat(n / 3_900)],
    ["blank lines", dsn({ recipients: ["\n ".repeat(n / 2)] }).toString("latin1")],
    [
      "recipients",
      dsn({ recipients: Array.from({ length: 9_000 }, () => failed("a@b.c", "550 x")) }).toString(),
    ],
  ])("takes linear time for many %s", (_, text) => {
    parseReport(Buffer.from(text, "latin1"));
  });

  test("is not parsed below eight levels of nested parts", () => {
    let inner = `Content-Type: message/delivery-status\n\nReporting-MTA: dns; x\n\n${failed("a@b.c", "550 x")}`;
    for (let depth = 0; depth < 5_000; depth += 1)
      inner = `Content-Type: multipart/mixed; boundary=b${depth}\n\n--b${depth}\n${inner}\n--b${depth}--\n`;
    expect(parseReport(Buffer.from(`From: a@b.c\n${inner}`))).toEqual({ kind: "other" });
  });

  test("leaves no control characters and no lone surrogates in the stored text", () => {
    const [reported] = delivery(
      dsn({ recipients: [failed("ben@example.net", "550 5.1.1 a\0b\u0007c \xff\xfe <script>")] }),
    ).reported as [Reported];
    expect(reported.reply.text).not.toMatch(/[\p{Cc}\p{Cs}]/u);
    expect(reported.reply.text.length).toBeLessThanOrEqual(1_000);
  });

  test("never throws, whatever is changed in a valid report", () => {
    const good = dsn({ recipients: [failed("ben@example.net", "550 5.1.1 no")] });
    const kinds = new Set<string | undefined>();
    for (let at = 0; at < good.length; at += 7) {
      const changed = Buffer.from(good);
      changed[at] = (at * 31) % 256;
      kinds.add(parseReport(changed)?.kind);
      kinds.add(parseReport(good.subarray(0, at))?.kind);
    }
    expect([...kinds]).toEqual(expect.arrayContaining(["delivery", "other", undefined]));
  });
});
