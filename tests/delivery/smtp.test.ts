import { beforeEach, describe, expect, test } from "vitest";
import type { Transport } from "#server/mail/transport/transport";
import { relayTo as openRelayTo } from "../mail/relay-world";
import { closeAfterTest, forEachTest } from "../support/fixtures";
import { deliverDue } from "../support/pump-engine";
import {
  DROP,
  type SmtpScript,
  type SmtpTestServer,
  startSmtpTestServer,
} from "../support/servers/smtp-test-server";
import { createWorld } from "../support/world";

const world = forEachTest(() => createWorld({ transportKind: "relay" }));
let peer: SmtpTestServer;
let transport: Transport;

async function relayTo(script: SmtpScript): Promise<void> {
  peer = closeAfterTest(await startSmtpTestServer(script));
  transport = closeAfterTest(openRelayTo(peer));
}

let lines: { event: string; facts: unknown }[];
beforeEach(() => {
  lines = [];
});

const round = () => {
  const record = (event: string, facts: unknown = {}) => void lines.push({ event, facts });
  const log = { info: record, warn: record, error: record };
  return deliverDue({ ...world.withTransport(transport), log });
};
const suppressed = async () =>
  (await world.hot`select address from suppressions`).map(({ address }) => address);
const waitMinutes = async () => {
  const [row] = await world.hot<{ minutes: number }[]>`
    select extract(epoch from due_at - now())::float / 60 as minutes from deliveries`;
  return row?.minutes ?? Number.NaN;
};
const typesOf = async (id: string) =>
  (await world.email(id)).events.map(({ type }) => type).filter((type) => type !== "email.queued");

test("a relay's 250 makes an email sent, recorded with reply and host, in one transaction for its recipients", async () => {
  await relayTo({});
  const { id } = await world.send({
    to: ["ben@example.net", "cy@example.net"],
    sender: "Ann <ann@example.org>",
  });
  await round();
  expect(peer.messages).toHaveLength(1);
  expect(peer.messages[0]).toMatchObject({
    from: "ann@example.org",
    to: ["ben@example.net", "cy@example.net"],
  });
  const email = await world.email(id);
  expect(email.status).toBe("sent");
  expect(email.deliveries[0]).toMatchObject({
    status: "sent",
    lastCode: 250,
    lastEnhanced: "2.0.0",
    lastHost: "127.0.0.1",
  });
  expect(await typesOf(id)).toEqual(["email.sent", "email.sent"]);
});

test("bcc recipients get the email and do not appear in it", async () => {
  await relayTo({});
  const secret = {
    name: null,
    local: "secret",
    domain: "example.net",
    address: "secret@example.net",
    smtpUtf8: false,
  };
  await world.send({ bcc: [secret] });
  await round();
  expect(peer.messages[0]?.to).toContain("secret@example.net");
  expect(peer.messages[0]?.bytes.toString()).not.toContain("secret@");
});

test("each recipient of an email has the outcome of its own reply", async () => {
  await relayTo({
    rcpt: ({ address }) =>
      address.startsWith("gone")
        ? "550 5.1.1 no such user"
        : address.startsWith("busy")
          ? "451 4.7.1 greylisted"
          : "250 ok",
  });
  const { id } = await world.send({ to: ["ok@example.net", "gone@example.net", "busy@example.net"] });
  await round();
  const email = await world.email(id);
  expect(email.deliveries.map(({ status, lastCode }) => [status, lastCode])).toEqual([
    ["sent", 250],
    ["bounced", 550],
    ["queued", 451],
  ]);
  expect(email.status).toBe("bounced");

  // Only the deferred recipient is retried, with the same envelope sender, not before its due time.
  await round();
  expect(peer.messages).toHaveLength(1);
  await world.elapse("20 minutes");
  await round();
  await round();
  expect(peer.messages).toHaveLength(1);
  expect((await world.email(id)).deliveries[2]).toMatchObject({
    status: "queued",
    attempts: 2,
    waitRule: "greylisted",
  });
});

test("a delivery fails with the reason at the end of the retry table, after about four days", async () => {
  await relayTo({ rcpt: "451 4.2.1 not today" });
  const { id } = await world.send();
  const waits: number[] = [];
  for (let attempt = 1; attempt <= 12; attempt++) {
    await round();
    const [row] = await world.hot`
      select status, attempts, extract(epoch from due_at - updated_at)::float / 60 as minutes from deliveries`;
    expect(row).toMatchObject({ status: "queued", attempts: attempt });
    waits.push(row?.minutes);
    await world.hot`update deliveries set due_at = now()`;
  }
  for (const [nth, minutes] of [1, 5, 15, 30, 60, 120, 240, 480, 720, 1_440, 1_440, 1_440].entries()) {
    expect(waits[nth]).toBeGreaterThan(minutes * 0.79);
    expect(waits[nth]).toBeLessThan(minutes * 1.21);
  }
  await round();
  const email = await world.email(id);
  expect(email.status).toBe("failed");
  expect(email.deliveries[0]?.lastReason).toContain("13 attempts");
  expect((await typesOf(id)).at(-1)).toBe("email.failed");
});

test("each recipient's rejection has its class and advice", async () => {
  const replies: Record<string, string> = {
    gone: "550 5.1.1 no such user",
    listed: "550 5.1.1 <x> blocked using dnsbl.example",
    full: "452 4.2.2 mailbox full",
  };
  await relayTo({ rcpt: ({ address }) => replies[address.split("@")[0] ?? ""] ?? "250 ok" });
  const { id } = await world.send({
    to: ["gone@example.net", "listed@example.net", "full@example.net", "ben@example.net"],
  });
  await round();
  const email = await world.email(id);
  const about = (address: string) =>
    email.events.find(({ recipient, type }) => recipient === address && type !== "email.queued");
  expect(about("gone@example.net")).toMatchObject({
    type: "email.bounced",
    data: {
      class: "hard",
      advice: expect.stringMatching(/^Check the address/),
      reason: expect.stringMatching(/mailbox does not exist/),
    },
  });
  expect(about("listed@example.net")).toMatchObject({ type: "email.bounced", data: { class: "reputation" } });
  expect(about("full@example.net")).toMatchObject({
    type: "email.delivery_delayed",
    data: { class: "quota" },
  });
  expect(about("ben@example.net")?.data).not.toHaveProperty("class");
  expect(await suppressed()).toEqual(["gone@example.net"]);
});

test("a greylisted delivery is retried after the stated wait, or after 5 minutes", async () => {
  await relayTo({ rcpt: ["450 4.2.0 Greylisted for 8 minutes", "451 4.7.1 Greylisted", "250 ok"] });
  const { id } = await world.send();
  await round();
  expect((await world.email(id)).deliveries[0]).toMatchObject({ waitRule: "greylisted", status: "queued" });
  const stated = await waitMinutes();
  expect(stated).toBeGreaterThan(7.5);
  expect(stated).toBeLessThan(10);
  await world.elapse("10 minutes");
  await round();
  const usual = await waitMinutes();
  expect(usual).toBeGreaterThan(4.5);
  expect(usual).toBeLessThan(6.1);
  await world.elapse("7 minutes");
  await round();
  expect(await world.email(id)).toMatchObject({ status: "sent" });
});

describe("the reply code decides, not the enhanced code", () => {
  test.each([
    ["rcpt", "451 5.7.1 Greylisting in action, please come back later", "greylisted"],
    ["rcpt", "450 5.1.1 <ben@example.net>: Recipient address rejected", "retry_schedule"],
    ["message", "450 5.2.1 Mailbox disabled", "retry_schedule"],
  ] as const)("%s: %s is retried and suppresses no address", async (step, reply, waitRule) => {
    await relayTo({ [step]: [reply, "250 2.0.0 ok"] });
    const { id } = await world.send();
    await round();
    const email = await world.email(id);
    expect(email.status).toBe("deferred");
    expect(email.deliveries[0]).toMatchObject({ status: "queued", attempts: 1, waitRule });
    expect(await typesOf(id)).toEqual(["email.delivery_delayed"]);
    expect(await suppressed()).toEqual([]);
    expect(lines).toContainEqual({
      event: "reply.contradictory",
      facts: expect.objectContaining({ emailId: id, code: Number(reply.slice(0, 3)) }),
    });
    await world.elapse("2 hours");
    await round();
    expect((await world.email(id)).status).toBe("sent");
  });

  test.each(["550 4.1.1 nobody here", "552 5.2.2 Mailbox full"])(
    "%s is final and suppresses no address",
    async (reply) => {
      await relayTo({ rcpt: reply });
      const { id } = await world.send();
      await round();
      expect((await world.email(id)).status).toBe("bounced");
      expect(await typesOf(id)).toEqual(["email.bounced"]);
      expect(await suppressed()).toEqual([]);
    },
  );
});

describe("a server with a recipient limit per transaction", () => {
  const ALL = ["a@example.net", "b@example.net", "c@example.net", "d@example.net", "e@example.net"];
  /** Accepts two recipients in each transaction. */
  const twoAtOnce = (rejection: string): SmtpScript => {
    let accepted = 0;
    return {
      mail: () => {
        accepted = 0;
        return "250 2.1.0 ok";
      },
      rcpt: () => (++accepted > 2 ? rejection : "250 2.1.5 ok"),
    };
  };

  test.each(["452 4.5.3 Too many recipients", "552 Too many recipients"])(
    "gets the remaining recipients in further transactions of the same attempt: %s",
    async (rejection) => {
      await relayTo(twoAtOnce(rejection));
      const { id } = await world.send({ to: ALL });
      await round();
      expect(peer.messages.map(({ to }) => to)).toEqual([
        ["a@example.net", "b@example.net"],
        ["c@example.net", "d@example.net"],
        ["e@example.net"],
      ]);
      expect(new Set(peer.messages.map(({ bytes }) => bytes.toString())).size).toBe(1);
      const email = await world.email(id);
      expect(email.deliveries.map(({ status, attempts }) => [status, attempts])).toEqual(
        ALL.map(() => ["sent", 1]),
      );
      expect(await typesOf(id)).toEqual(ALL.map(() => "email.sent"));
    },
  );

  test("gets no further transaction after one without an accepted recipient", async () => {
    await relayTo({ rcpt: "452 4.5.3 Too many recipients" });
    const { id } = await world.send({ to: ALL });
    await round();
    expect(peer.commands.filter((line) => line.startsWith("MAIL"))).toHaveLength(1);
    expect((await world.email(id)).deliveries.map(({ status, waitRule }) => [status, waitRule])).toEqual(
      ALL.map(() => ["queued", "retry_schedule"]),
    );
  });

  test("does not get a recipient with a full mailbox again in the same attempt", async () => {
    const replies: Record<string, string> = {
      "b@example.net": "452 4.2.2 Mailbox full",
      "c@example.net": "552 5.2.2 Mailbox full",
    };
    await relayTo({ rcpt: ({ address }) => replies[address] ?? "250 ok" });
    const { id } = await world.send({ to: ALL });
    await round();
    expect(peer.messages.map(({ to }) => to)).toEqual([["a@example.net", "d@example.net", "e@example.net"]]);
    expect((await world.email(id)).deliveries.map(({ status }) => status)).toEqual([
      "sent",
      "queued",
      "bounced",
      "sent",
      "sent",
    ]);
  });

  test("keeps its accepted recipients if the connection is lost before the next transaction", async () => {
    let accepted = 0;
    await relayTo({
      mail: ({ nth }) => (nth > 0 ? DROP : "250 ok"),
      rcpt: () => (++accepted > 2 ? "452 4.5.3 Too many recipients" : "250 ok"),
    });
    const { id } = await world.send({ to: ALL });
    await round();
    expect(peer.messages.map(({ to }) => to)).toEqual([["a@example.net", "b@example.net"]]);
    expect((await world.email(id)).deliveries.map(({ status }) => status)).toEqual([
      "sent",
      "sent",
      "queued",
      "queued",
      "queued",
    ]);
  });
});
