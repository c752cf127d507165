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
let lines: { event: string; facts: unknown }[];

beforeEach(async () => {
  lines = [];
});
async function relayTo(script: SmtpScript): Promise<void> {
  peer = closeAfterTest(await startSmtpTestServer(script));
  transport = closeAfterTest(openRelayTo(peer));
}

const round = () => {
  const record = (event: string, facts: unknown = {}) => void lines.push({ event, facts });
  const log = { info: record, warn: record, error: record };
  return deliverDue({ ...world.withTransport(transport), log });
};
const suppressed = () => world.hot`select address from suppressions`;
const typesOf = async (id: string) =>
  (await world.email(id)).events.map(({ type }) => type).filter((type) => type !== "email.queued");

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
