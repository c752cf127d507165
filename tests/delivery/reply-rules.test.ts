import { beforeEach, describe, expect, test } from "vitest";
import { tick } from "#server/delivery/tick";
import { removeReplyRule, setReplyRule } from "#server/services/destinations/reply-rules";
import { listSuppressions } from "#server/services/suppressions/read";
import { closeAfterTest, forEachTest } from "../support/fixtures";
import { transportTo } from "../support/relays";
import { type SmtpScript, startSmtpTestServer } from "../support/servers/smtp-test-server";
import { createWorld } from "../support/world";

const world = forEachTest(() => createWorld({ transportKind: "relay" }));
let script: SmtpScript;
let round: () => Promise<unknown>;

beforeEach(async () => {
  const server = closeAfterTest(
    await startSmtpTestServer({
      rcpt: (seen) => (typeof script.rcpt === "function" ? script.rcpt(seen) : "250 ok"),
    }),
  );
  const transport = closeAfterTest(transportTo(server));
  round = () => tick(world.withTransport(transport), { budgetMs: 20_000 });
});

const suppressed = async () =>
  (await listSuppressions(world.ctx, { limit: 100 })).rows.map(({ address }) => address).sort();

/** Sends one email to a recipient for each reply. Returns the replies whose recipients are suppressed. */
async function suppressedBy(replies: readonly string[]): Promise<string[]> {
  script = { rcpt: ({ address }) => replies[Number(/^r(\d+)@/.exec(address)?.[1])] ?? "250 ok" };
  for (let from = 0; from < replies.length; from += 25) {
    const to = replies.slice(from, from + 25).map((_, n) => `r${from + n}@example.net`);
    await world.send({ to: [...to, "ben@example.net"] });
  }
  await round();
  const addresses = new Set(await suppressed());
  return replies.filter((_, n) => addresses.has(`r${n}@example.net`));
}

/** "No such mailbox", as many servers say it. */
const DEAD = [
  "554 delivery error: dd This user doesn't have a yahoo.com account (r@yahoo.com) [0] - mta1.example.com",
  "554 delivery error: dd Sorry your message to r@yahoo.com cannot be delivered. This account has been disabled or discontinued [#102].",
  "550 5.5.0 Requested action not taken: mailbox unavailable (S2017062302).",
  "552 1 r@example.net mailbox not found",
  "550 5.7.1 No such user!",
  "550 Unrouteable address",
  "524 5.2.4 Mailing list expansion problem: <r@example.net>",
  "550-5.1.1 The email account that you tried to reach does not exist. Please try\r\n550 5.1.1 https://support.google.com/mail/?p=NoSuchUser - gsmtp",
  "550 5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient not found by SMTP address lookup",
  "550 5.1.1 <r@icloud.com>: user does not exist",
  "550 Requested action not taken: mailbox unavailable",
  "550 5.1.1 <r@example.net>: Recipient address rejected: User unknown in virtual mailbox table",
  "550 Invalid Recipient - https://community.mimecast.com/docs/DOC-1369#550",
  "553 sorry, no mailbox here by that name (#5.1.1)",
  "550 No Such User Here",
  "550 Mailbox not found",
  "550 5.1.0 Address rejected: unknown user",
  "511 sorry, no mailbox here by that name (#5.1.1 - chkuser)",
  "550 #5.1.1 Addressee unknown, relay=192.0.2.1",
  "550 Account does not exist",
  "550 5.4.1 Recipient address rejected: Access denied. [AM0EUR02FT012.eop-EUR02.prod.protection.outlook.com]",
  "550 5.1.1 Adresse d au moins un destinataire invalide. Invalid recipient. LPN416 [416]",
  "550 Empf\u00e4nger unbekannt",
  "550 This address is no longer in use",
  "550 User not known",
];

/** The address exists, or may exist: temporary replies, and rejections for another reason. */
const ALIVE = [
  "521 5.2.1 :  (DNS:NR)  http://postmaster.info.aol.com/errors/421dnsnr.html",
  "550-Verification failed for <news@example.com>\r\n550-No Such User Here\r\n550 Sender verify failed",
  "550 5.1.1 <news@example.com>: Sender address rejected: User unknown in virtual mailbox table",
  "550 5.7.1 Sender address does not exist",
  "450 4.1.1 <r@example.net>: Recipient address rejected: User unknown in local recipient table",
  "450 Requested mail action not taken: mailbox unavailable",
  "451 4.7.1 Greylisting in action, please come back later",
  "452 4.2.2 The email account that you tried to reach is over quota",
  "552 5.2.2 Mailbox full",
  "550 5.2.1 The user you are trying to contact is receiving mail at a rate that prevents additional messages",
  "550 5.1.1 User temporarily unknown, try again later",
  "550 5.7.1 Service unavailable, client host [192.0.2.1] blocked using zen.spamhaus.org",
  "550 5.2.1 Mailbox unavailable. Your IP address 192.0.2.1 is blacklisted using SPAMHAUS-XBL",
  "550 5.1.1 rejected: your server has a bad reputation, no such user probing",
  "554 5.7.1 <r@example.net>: Relay access denied",
  "550 5.7.26 Unauthenticated email from example.com is not accepted due to domain's DMARC policy",
  "550 Mailbox temporarily disabled",
  "550 5.7.1 Recipient not authorized, your message is not permitted to be sent to this group",
  "550 5.7.133 RESOLVER.RST.SenderNotAuthenticatedForGroup; authentication required",
  "552 5.3.4 Message size exceeds fixed limit",
  "550 5.7.1 Message rejected as spam by Content Filtering.",
  "554 5.7.1 Rejected by policy",
  "530 5.7.0 Must issue a STARTTLS command first",
  "421 4.7.0 [TSS04] Messages from 192.0.2.1 temporarily deferred due to unexpected volume or user complaints",
  "550 5.1.8 Access denied, bad outbound sender",
  "550 5.4.5 Daily user sending limit exceeded",
  "550 Address rejected",
  "550 Your email was removed by our filter",
  "550 You are not a member of this list",
  "550 5.7.1 Invalid username or password",
  "550",
];

describe("suppression", () => {
  test("25 replies that say that there is no such mailbox suppress their recipients", async () => {
    expect(DEAD).toHaveLength(25);
    expect(await suppressedBy(DEAD)).toEqual(DEAD);
  });

  test("31 temporary replies and rejections for other reasons suppress no address", async () => {
    expect(ALIVE).toHaveLength(31);
    expect(await suppressedBy(ALIVE)).toEqual([]);
  });
});

describe("a rule of the operator", () => {
  const lastEvent = async (id: string) => (await world.email(id)).events.at(-1);
  const statuses = async (id: string) => (await world.email(id)).deliveries.map(({ status }) => status);

  test("bounces a temporary reply, suppresses only if it says so, and is named in event and webhook", async () => {
    script = { rcpt: () => "451 4.3.2 Mailbox is closed for good, ask the  registry" };
    const own = { name: "closed", pattern: "451*CLOSED for good, ask the registry", class: "hard" as const };
    await setReplyRule(world.deps, { ...own, action: "bounce" });
    const { id } = await world.send({ to: ["ann@example.net"] });
    await round();
    expect(await statuses(id)).toEqual(["bounced"]);
    expect(await suppressed()).toEqual([]);
    expect(await lastEvent(id)).toMatchObject({
      type: "email.bounced",
      data: { class: "hard", replyRule: "operator:closed", reply: { code: 451 } },
    });
    expect((await world.email(id)).deliveries[0]?.replyClass).toBe("hard");
  });

  test("suppresses, at its destination only and until it expires", async () => {
    script = { rcpt: () => "451 4.3.2 closed for good" };
    const own = { name: "closed", pattern: "closed for good", class: "hard", action: "suppress" } as const;
    await setReplyRule(world.deps, { ...own, destination: "Example.NET" });
    await setReplyRule(world.deps, {
      ...own,
      name: "expired",
      destination: "example.org",
      expiresAt: new Date(world.deps.clock().getTime() + 60_000),
    });
    await world.hot`update reply_rules set expires_at = now() - interval '1 s' where name = 'expired'`;
    const to = ["ann@example.net", "cy@mail.example.net", "ben@example.com", "dee@example.org"];
    const { id } = await world.send({ to });
    await round();
    expect(await statuses(id)).toEqual(["bounced", "bounced", "queued", "queued"]);
    expect(await suppressed()).toEqual(["ann@example.net", "cy@mail.example.net"]);
  });

  test("defers a permanent reply, and without it the reply bounces again", async () => {
    script = { rcpt: () => "550 5.7.1 blocked using dnsbl.example" };
    const own = { name: "list", pattern: "dnsbl.example", class: "reputation", action: "defer" } as const;
    await setReplyRule(world.deps, own);
    const { id } = await world.send({ to: ["ann@example.net"] });
    await round();
    expect(await statuses(id)).toEqual(["queued"]);
    await removeReplyRule(world.deps, "list");
    await expect(removeReplyRule(world.deps, "list")).rejects.toThrow("There is no reply rule list.");
  });

  test("does not change replies about our login or accepted recipients", async () => {
    await setReplyRule(world.deps, { name: "all", pattern: "2* ok*", class: "other", action: "bounce" });
    const { id } = await world.send({ to: ["ann@example.net"] });
    script = {};
    await round();
    expect(await statuses(id)).toEqual(["sent"]);
  });

  test.each([
    [{ name: "A b" }, "name"],
    [{ pattern: "*a*b" }, "pattern"],
    [{ pattern: "x".repeat(201) }, "pattern"],
    [{ pattern: "abcd*a*a*a*a*a*a*a*a*a" }, "pattern"],
    [{ destination: "nowhere" }, "destination"],
    [{ expiresAt: new Date(0) }, "expiry"],
  ])("is rejected with %j, with the field's name", async (wrong, field) => {
    const own = { name: "own", pattern: "closed", class: "hard", action: "keep" } as const;
    await expect(setReplyRule(world.deps, { ...own, ...wrong })).rejects.toThrow(`Invalid ${field}.`);
  });
});
