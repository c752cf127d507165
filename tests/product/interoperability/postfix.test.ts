import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { tick } from "#server/delivery/tick";
import type { Listener } from "#server/mail/bounce/listener";
import type { OutgoingMessage, Transport } from "#server/mail/transport/transport";
import { openInbound } from "#server/startup/smtp/inbound";
import { addSignedDomain, verifySigned } from "../../support/dkim-verifier";
import { type Postfix, postfixMissing, startPostfix } from "../../support/processes/postfix";
import { transportTo } from "../../support/relays";
import { type SmtpTestServer, startSmtpTestServer } from "../../support/servers/smtp-test-server";
import { createWorld, type World } from "../../support/world";
import { addedTo, composeUnusual, latin1, messageIdOf, wireText } from "./unusual-emails";

if (postfixMissing !== null)
  process.stdout.write(`NOT RUN: ${postfixMissing}; nothing is delivered through it, nor sent back by it.\n`);

const eventually = { timeout: 60_000, interval: 50 };
const names = { mailHost: null, returnPathDomain: "bounces.example.com", webHost: null };
const settings = {
  inboundPort: 0,
  host: "127.0.0.1",
  hostname: "us",
};
const sender = "Gärtnerei <ann@signed.example>";

/** Replies of the server behind Postfix to RCPT. It has no extensions beyond RFC 5321. */
const REPLIES: Record<string, string> = {
  gone: "550 5.1.1 There is nobody of that name",
  full: "554 5.2.2 The mailbox is full",
  policy: "550 5.7.1 We do not want this",
  late: "451 4.3.2 Come back later",
};

let world: World;
let postfix: Postfix;
let remote: SmtpTestServer;
let inbound: Listener;
let transport: Transport;
let sent: OutgoingMessage[];

async function open(): Promise<void> {
  world = await createWorld({ transportKind: "relay", names });
  await addSignedDomain(world, "signed.example");
  const opened = await openInbound(settings, world.deps);
  if (!opened) throw new Error("nothing listens");
  inbound = opened;
  remote = await startSmtpTestServer({
    ehlo: "250 remote.example",
    rcpt: ({ address }) => REPLIES[address.split("@")[0] ?? ""] ?? "250 ok",
  });
  postfix = await startPostfix({
    mailboxes: ["ben", "jörg"],
    aliases: { team: ["ben@mailbox.example", "gone@remote.example"] },
    routes: { "bounces.example.com": inbound.port, "remote.example": remote.port },
    settings: ["maximal_queue_lifetime = 6s", "delay_warning_time = 1s"],
  });
  const relay = transportTo(postfix);
  sent = [];
  // Not the relay itself, of which the engine would use a pool of its own.
  transport = {
    name: relay.name,
    close: () => relay.close(),
    deliver: (message, ...rest) => {
      sent.push(message);
      return relay.deliver(message, ...rest);
    },
  };
}

const round = () => tick(world.withTransport(transport), { budgetMs: 60_000 });

describe.runIf(postfixMissing === null)("Debian's Postfix", { timeout: 120_000 }, () => {
  beforeAll(open);
  afterAll(async () => {
    await postfix?.close();
    await transport?.close();
    await remote?.close();
    await inbound?.close();
    await world?.close();
  });

  test("delivers body and headers byte for byte, to a mailbox and to a server behind it, with both signatures valid", async () => {
    const emails = await composeUnusual();
    for (const mail of emails)
      await world.send({ ...mail, sender, to: ["Ben Bär <ben@mailbox.example>", "cy@remote.example"] });
    await round();
    expect(sent).toHaveLength(2 * emails.length);
    await vi.waitFor(() => {
      expect(postfix.mailbox("ben").length, postfix.log()).toBe(emails.length);
      expect(remote.messages.length, postfix.log()).toBe(emails.length);
    }, eventually);

    const toMailbox = postfix.mailbox("ben").map((bytes) => latin1(bytes).replaceAll("\n", "\r\n"));
    const remoteCopies = remote.messages.map(({ bytes }) => latin1(bytes));
    for (const message of sent) {
      const own = wireText(message);
      const copies = [toMailbox, remoteCopies].map((arrived) => arrived.find((text) => text.endsWith(own)));
      expect(
        copies.filter((text) => text !== undefined),
        messageIdOf(own),
      ).toHaveLength(1);
      const [inMailbox, behind] = copies;
      if (inMailbox !== undefined)
        expect(addedTo(own, inMailbox)).toEqual(["Return-Path", "X-Original-To", "Delivered-To", "Received"]);
      else expect(addedTo(own, behind)).toEqual(["Received"]);
    }
    const arrived = [...toMailbox, ...remoteCopies].map((text) => Buffer.from(text, "latin1"));
    const valid = arrived.map(() => [true, true]);
    expect((await verifySigned(world.ctx, "signed.example", arrived)) ?? valid).toEqual(valid);
  });

  const stateOf = async (id: string) =>
    (await world.email(id)).deliveries.map(({ address, status, lastEnhanced }) => [
      address,
      status,
      lastEnhanced,
    ]);

  test("returns undeliverable email, and each report applies to exactly its recipient", async () => {
    // Too large to be returned in full: the report has only the headers.
    const html = `<p>${"words ".repeat(20_000)}</p>`;
    const local = ["ben@mailbox.example", "nobody@mailbox.example"];
    const to = [
      ...local,
      "cy@remote.example",
      "gone@remote.example",
      "full@remote.example",
      "policy@remote.example",
    ];
    const { id } = await world.send({ sender, to, html });
    const { id: other } = await world.send({ sender, to: ["dee@remote.example"], html });
    await round();
    await vi.waitFor(
      async () =>
        expect(await stateOf(id), postfix.log()).toEqual([
          ["ben@mailbox.example", "sent", expect.anything()],
          ["nobody@mailbox.example", "bounced", "5.1.1"],
          ["cy@remote.example", "sent", expect.anything()],
          ["gone@remote.example", "bounced", "5.1.1"],
          ["full@remote.example", "bounced", "5.2.2"],
          ["policy@remote.example", "bounced", "5.7.1"],
        ]),
      eventually,
    );
    expect((await stateOf(other)).map(([, status]) => status)).toEqual(["sent"]);
    const { deliveries, events } = await world.email(id);
    expect(deliveries[3]).toMatchObject({ lastCode: 550, lastText: "There is nobody of that name" });
    const bounces = events.filter(({ type }) => type === "email.bounced").map(({ recipient }) => recipient);
    expect(bounces.toSorted()).toEqual([
      "full@remote.example",
      "gone@remote.example",
      "nobody@mailbox.example",
      "policy@remote.example",
    ]);
    const listed =
      await world.hot`select address, origin, source_email_id from suppressions order by address`;
    expect([...listed]).toEqual([
      { address: "gone@remote.example", origin: "bounce", source_email_id: id },
      { address: "nobody@mailbox.example", origin: "bounce", source_email_id: id },
    ]);
  });

  test("reports a dead forwarding target, and the original recipient is not suppressed", async () => {
    const { id } = await world.send({ sender, to: ["team@mailbox.example"] });
    await round();
    await vi.waitFor(
      async () =>
        expect(await stateOf(id), postfix.log()).toEqual([["team@mailbox.example", "bounced", "5.1.1"]]),
      eventually,
    );
    const listed = await world.hot`select 1 from suppressions where address = 'team@mailbox.example'`;
    expect(listed).toHaveLength(0);
  });

  test("accepts a non-ASCII address unchanged, and bounces it if the next server does not support it", async () => {
    sent.length = 0;
    await world.send({ sender, to: ["Jörg <jörg@mailbox.example>"] });
    const { id } = await world.send({ sender, to: ["jörg@remote.example"] });
    await round();
    await vi.waitFor(async () => {
      expect(postfix.mailbox("jörg").length, postfix.log()).toBe(1);
      expect(await stateOf(id), postfix.log()).toEqual([["jörg@remote.example", "bounced", "5.6.7"]]);
    }, eventually);
    const arrived = latin1(postfix.mailbox("jörg")[0]).replaceAll("\n", "\r\n");
    const own = sent.map(wireText).find((text) => arrived.endsWith(text));
    expect(own).toContain(latin1(Buffer.from("jörg@mailbox.example")));
    const listed = await world.hot`select 1 from suppressions where address = 'jörg@remote.example'`;
    expect(listed).toHaveLength(0);
  });

  test("reports a delay, then a failure: an event, then a bounce, without a suppression", async () => {
    const { id } = await world.send({ sender, to: ["late@remote.example"] });
    await round();
    await vi.waitFor(
      async () =>
        expect(
          (await stateOf(id)).map(([, status]) => status),
          postfix.log(),
        ).toEqual(["bounced"]),
      eventually,
    );
    const { events, deliveries } = await world.email(id);
    const types = events.map(({ type }) => type);
    expect(types.filter((type) => type === "email.delivery_delayed")).toHaveLength(1);
    expect(types.indexOf("email.delivery_delayed")).toBeLessThan(types.indexOf("email.bounced"));
    expect(deliveries[0]).toMatchObject({ lastCode: 451, lastEnhanced: "4.3.2" });
    const listed = await world.hot`select 1 from suppressions where address = 'late@remote.example'`;
    expect(listed).toHaveLength(0);
  });
});
