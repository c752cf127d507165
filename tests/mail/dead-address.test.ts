import { expect, test } from "vitest";
import { isDeadAddress } from "#server/mail/bounce/dead-address";
import { outcomeOfReply, parseSmtpReply, type ReplyStep } from "#server/mail/outcome";

const judge = (raw: string, step: ReplyStep = "rcpt", recipients = 1) =>
  isDeadAddress(outcomeOfReply("ben@example.net", parseSmtpReply(raw), "mx.example.net", step), recipients);

test.each([
  "550 5.1.1 no such user",
  "550 no such user, in words alone",
  "550 5.7.1 no such user, whatever its code says",
  "550 5.1.2 no such domain",
  "553 5.1.3 not an address",
  "550 5.1.6 moved",
  "556 5.1.10 null MX",
  "550 5.2.1 mailbox disabled",
])("%s: the address is dead", (raw) => {
  expect(judge(raw)).toBe(true);
});

test.each([
  "250 2.1.5 ok",
  "450 4.1.1 not yet",
  "450 5.1.1 the code of the reply decides",
  "550 4.1.1 only what both say counts",
  "421 5.1.1 going away",
  "550 5.1.0 something about the address",
  "550 5.1.4 two mailboxes of that name",
  "550 5.1.7 the sender's address",
  "550 5.1.8 the sender's domain",
  "550 5.0.0 anything",
  "552 5.2.2 mailbox full",
  "552 5.2.3 too large for the mailbox",
  "550 5.2.0 something about the mailbox",
  "550 5.3.0 the system",
  "552 5.3.4 too large",
  "550 5.4.1 no answer from the host",
  "550 5.4.4 no route",
  "550 5.4.6 a loop",
  "550 5.5.0 the protocol",
  "550 5.6.0 the content",
  "550 5.7.1 the policy",
  "550 5.7.26 unauthenticated",
  "550 5.7.515 unauthenticated in bulk",
  "554 5.7.0 spam",
  "535 5.7.8 our login",
  "nonsense",
])("%s: the address may still accept email", (raw) => {
  expect(judge(raw)).toBe(false);
});

test("a rejected sender does not mark a recipient as dead", () => {
  expect(judge("550 5.1.1 no such sender", "mail")).toBe(false);
});

test("a rejected message marks its only recipient as dead, but none of several", () => {
  expect(judge("550 5.1.1 no such user", "message", 1)).toBe(true);
  expect(judge("550 5.1.1 no such user", "message", 2)).toBe(false);
  expect(judge("550 5.1.1 no such user", "data", 2)).toBe(false);
  expect(judge("550 5.1.1 no such user", "rcpt", 2)).toBe(true);
});
