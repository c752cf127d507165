import { describe, expect, test } from "vitest";
import { outcomeOfReply, parseSmtpReply, type ReplyStep } from "#server/mail/outcome";

describe("a reply is parsed", () => {
  test.each<[raw: string, code: number | null, enhanced: string | null, text: string]>([
    ["250 OK", 250, null, "OK"],
    ["250", 250, null, ""],
    ["250 2.0.0 Ok: queued as 4XY", 250, "2.0.0", "Ok: queued as 4XY"],
    [
      "550-5.1.1 The email account\r\n550-5.1.1 does not exist.\r\n550 5.1.1 Really.",
      550,
      "5.1.1",
      "The email account does not exist. Really.",
    ],
    ["421 4.7.0\n", 421, "4.7.0", ""],
    ["550 5.1.10 RESOLVER.ADR", 550, "5.1.10", "RESOLVER.ADR"],
    ["550 1.2.3.4 is listed", 550, null, "1.2.3.4 is listed"],
    ["550 5.7.1.2 no code", 550, null, "5.7.1.2 no code"],
    ["5501 x", null, null, "5501 x"],
    ["199 x", null, null, "199 x"],
    ["garbage", null, null, "garbage"],
    ["", null, null, ""],
    ["550 bad\0 \u001b[1m \ud800", 550, null, "bad [1m \ufffd"],
  ])("%j", (raw, code, enhanced, text) => {
    const reply = parseSmtpReply(raw);
    expect(reply).toMatchObject({ code, enhanced });
    expect(reply.text.replace(/ +/g, " ")).toBe(text);
  });

  test("with a bounded size, however large it is", () => {
    expect(parseSmtpReply(`550 ${"x".repeat(1_000_000)}`).text.length).toBeLessThanOrEqual(1000);
    expect(parseSmtpReply("550-x\r\n".repeat(200_000)).text.length).toBeLessThanOrEqual(1000);
  });
});

describe("a reply determines the outcome of its recipient", () => {
  test.each<[raw: string, step: ReplyStep, kind: string]>([
    ["250 ok", "message", "accepted"],
    ["251 will forward", "rcpt", "accepted"],
    ["250 2.6.0 queued", "message", "accepted"],
    ["421 4.3.2 closing", "mail", "deferred"],
    ["421 5.7.1 go away", "message", "deferred"],
    ["450 4.2.0 greylisted", "rcpt", "deferred"],
    ["451 4.7.1 later", "rcpt", "deferred"],
    ["452 4.2.2 full", "rcpt", "deferred"],
    ["452 too many recipients", "rcpt", "deferred"],
    ["500 what", "rcpt", "rejected"],
    ["503 bad sequence", "data", "deferred"],
    ["503 5.5.1 RCPT first", "data", "deferred"],
    ["550 5.1.1 nobody", "rcpt", "rejected"],
    ["550 nobody", "rcpt", "rejected"],
    ["551 not local", "rcpt", "rejected"],
    ["552 too many recipients", "rcpt", "rejected"],
    ["552 5.2.2 full", "rcpt", "rejected"],
    ["552 5.3.4 too big", "message", "rejected"],
    ["553 bad name", "rcpt", "rejected"],
    ["554 5.7.1 spam", "message", "rejected"],
    ["554 no valid recipients", "data", "rejected"],
    ["550 4.2.1 mailbox busy", "rcpt", "rejected"],
    ["554 4.4.1 later", "message", "rejected"],
    ["450 5.1.1 nobody", "rcpt", "deferred"],
    ["451 5.7.1 never", "message", "deferred"],
    ["451 5.1.8 sender domain not found", "mail", "deferred"],
    ["550 2.0.0 odd", "rcpt", "rejected"],
    ["354 go", "message", "deferred"],
    ["garbage", "rcpt", "deferred"],
    ["", "message", "deferred"],
    ["999 odd", "rcpt", "deferred"],
  ])("%j at %s", (raw, step, kind) => {
    const outcome = outcomeOfReply("b@example.org", parseSmtpReply(raw), "mx.example.org", step);
    expect(outcome.kind).toBe(kind);
    expect(outcome).toMatchObject({ recipient: "b@example.org", host: "mx.example.org" });
    expect(outcome.reason).toMatch(/^\S.*\S$/);
    expect(outcome.alarm).toBeUndefined();
  });

  test.each<[raw: string, step: ReplyStep, alarm: string]>([
    ["535 5.7.8 bad credentials", "auth", "auth"],
    ["535 bad credentials", "mail", "auth"],
    ["534 5.7.9 too weak", "auth", "auth"],
    ["538 5.7.11 encryption required", "mail", "auth"],
    ["530 5.7.0 authentication required", "mail", "auth"],
    ["550 5.7.8 log in first", "mail", "auth"],
    ["454 4.7.0 temporary", "auth", "auth"],
    ["500 what", "auth", "auth"],
    ["530 5.7.0 Must issue a STARTTLS command first", "mail", "tls"],
  ])("%j at %s is an error on our side: deferred, with an alarm", (raw, step, alarm) => {
    expect(outcomeOfReply("b@example.org", parseSmtpReply(raw), "mx", step)).toMatchObject({
      kind: "deferred",
      alarm,
    });
  });
});
