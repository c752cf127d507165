import { beforeEach, describe, expect, test } from "vitest";
import { settleOutcome } from "#server/delivery/attempt/outcome";
import { claimDeliveries, markHandedOver } from "#server/delivery/queue/claims";
import { recordResults } from "#server/delivery/queue/record-results";
import { tick } from "#server/delivery/tick";
import type { Transport } from "#server/mail/transport/transport";
import { newId } from "#server/platform/ids";
import { listSuppressions } from "#server/services/suppressions/read";
import { addSuppressions } from "#server/services/suppressions/suppress";
import { closeAfterTest, forAllTests } from "../support/fixtures";
import { transportTo } from "../support/relays";
import {
  type SmtpScript,
  type SmtpTestServer,
  startSmtpTestServer,
} from "../support/servers/smtp-test-server";
import { createWorld } from "../support/world";

const world = forAllTests(() => createWorld({ transportKind: "relay" }));
let peer: SmtpTestServer;
let transport: Transport;

beforeEach(async () => {
  for (const table of ["suppressions", "deliveries"]) await world.hot.unsafe(`delete from ${table}`);
});
async function relayTo(script: SmtpScript = {}): Promise<void> {
  peer = closeAfterTest(await startSmtpTestServer(script));
  transport = closeAfterTest(transportTo(peer));
}

const round = () => tick(world.withTransport(transport), { budgetMs: 20_000 });
const listed = async () =>
  (await listSuppressions(world.ctx, { limit: 100 })).rows.map(({ address, origin, sourceEmailId }) => ({
    address,
    origin,
    sourceEmailId,
  }));

describe("an address suppressed after queueing", () => {
  test("is never contacted, in any letter case, and the other recipients get their email", async () => {
    await relayTo();
    const { id } = await world.send({ to: ["Ann@Example.com", "ben@example.net"] });
    await addSuppressions(world.ctx, ["ann@example.COM"]);
    await round();
    expect(peer.messages.map(({ to }) => to)).toEqual([["ben@example.net"]]);
    expect(peer.commands.join()).not.toMatch(/RCPT TO:<ann/i);
    const email = await world.email(id);
    expect(email.deliveries.map(({ status }) => status)).toEqual(["suppressed", "sent"]);
    expect(email.events).toContainEqual(
      expect.objectContaining({
        type: "email.suppressed",
        recipient: "Ann@example.com",
        data: expect.objectContaining({
          suppressedBy: "manual",
          reason: expect.stringMatching(/suppression list/),
        }),
      }),
    );
  });

  test("is not contacted if it is suppressed between the claim and the dialogue", async () => {
    const { id } = await world.send({ to: ["ann@example.com", "ben@example.net"] });
    const claims = await claimDeliveries(world.hot, { limit: 10, leaseToken: newId() });
    await addSuppressions(world.ctx, ["ann@example.com"]);
    const marked = await markHandedOver(world.hot, claims);
    expect(claims.filter((claim) => marked.has(claim.id)).map(({ address }) => address)).toEqual([
      "ben@example.net",
    ]);
    expect((await world.email(id)).deliveries.map(({ stage }) => stage)).toEqual(["claimed", "handed_over"]);
  });

  test("is suppressed even without a transport", async () => {
    const { id } = await world.send({ to: ["ann@example.com"] });
    await addSuppressions(world.ctx, ["ann@example.com"]);
    await tick(world.withTransport(null), { budgetMs: 20_000 });
    expect((await world.email(id)).status).toBe("suppressed");
  });

  test("waits with all others if the suppression list cannot be read", async () => {
    await relayTo();
    const { id } = await world.send({ to: ["ann@example.com", "ben@example.net"] });
    await world.hot`alter table suppressions rename to hidden`;
    await expect(round()).rejects.toThrow();
    expect(peer.messages).toEqual([]);
    expect(peer.connections()).toBe(0);
    await world.hot`alter table hidden rename to suppressions`;
    await world.elapse("61 seconds");
    await round();
    expect((await world.email(id)).status).toBe("sent");
  });
});

describe("bounces and complaints", () => {
  test("a hard bounce suppresses its address and records the email; policy rejections and full mailboxes do not", async () => {
    const replies: Record<string, string> = {
      gone: "550 5.1.1 no such user",
      policy: "550 5.7.1 rejected by policy",
      full: "552 5.2.2 mailbox full",
      words: "550 no such user",
    };
    await relayTo({ rcpt: ({ address }) => replies[address.split("@")[0] ?? ""] ?? "250 ok" });
    const to = Object.keys(replies).map((local) => `${local}@example.net`);
    const { id } = await world.send({ to: [...to, "ben@example.net"] });
    await round();
    const entries = ["gone", "words"].map((local) => ({
      address: `${local}@example.net`,
      origin: "bounce",
      sourceEmailId: id,
    }));
    expect((await listed()).sort((a, b) => a.address.localeCompare(b.address))).toEqual(entries);
    const again = await world.send({ to: ["gone@example.net", "ben@example.net"] });
    peer.commands.length = 0;
    await round();
    expect(peer.commands.join()).not.toContain("gone@");
    const { events } = await world.email(again.id);
    expect(events.find(({ type }) => type === "email.suppressed")?.data.suppressedBy).toBe("previous_bounce");
    expect(await listed()).toHaveLength(entries.length);
  });

  test("a message that is rejected for several recipients suppresses none, because the reply is about no one", async () => {
    await relayTo({ message: "550 5.1.1 no such user" });
    const { id } = await world.send({ to: ["ann@example.net", "ben@example.net"] });
    await round();
    expect((await world.email(id)).deliveries.map(({ status }) => status)).toEqual(["bounced", "bounced"]);
    expect(await listed()).toEqual([]);
  });

  /** The results of all due deliveries, whose recipients are permanently rejected or accepted. */
  async function resultsOf(kind: "rejected" | "accepted", more: { complains?: boolean } = {}) {
    const claims = await claimDeliveries(world.hot, { limit: 10, leaseToken: newId() });
    return claims.map((claim) => {
      const common = { recipient: claim.address, host: "mx", reason: "Scripted." };
      const reply = { code: kind === "accepted" ? 250 : 550, enhanced: "5.1.1", text: "scripted" };
      const outcome =
        kind === "accepted"
          ? { ...common, kind, reply: { ...reply, enhanced: null } }
          : { ...common, kind, reply, step: "rcpt" as const, isDead: true };
      const settled = settleOutcome(claim, outcome, {
        policy: "retry",
        random: 0,
        isFinal: kind === "accepted",
        ...more,
      });
      return { ...settled, isAlone: true };
    });
  }

  test("a complaint suppresses its address, and an existing suppression does not change", async () => {
    await addSuppressions(world.ctx, ["cy@example.net"]);
    const { id } = await world.send({ to: ["Ann@example.com", "cy@example.net"] });
    await recordResults(world.hot, await resultsOf("accepted", { complains: true }));
    expect(await listed()).toEqual([
      { address: "ann@example.com", origin: "complaint", sourceEmailId: id },
      { address: "cy@example.net", origin: "manual", sourceEmailId: null },
    ]);
  });

  test("two results of one batch for the same address suppress it once", async () => {
    const ids = [
      (await world.send({ to: ["Gone@example.net"] })).id,
      (await world.send({ to: ["gone@example.net"] })).id,
    ];
    expect((await recordResults(world.hot, await resultsOf("rejected"))).size).toBe(2);
    for (const id of ids) expect((await world.email(id)).status).toBe("bounced");
    expect((await listed()).map(({ address }) => address)).toEqual(["gone@example.net"]);
  });

  test("a result that is dropped after a lost lease suppresses no address", async () => {
    await world.send({ to: ["ann@example.com"] });
    const [result] = await resultsOf("rejected");
    if (!result?.suppression) throw new Error("the result does not suppress");
    await recordResults(world.hot, [{ ...result, leaseToken: newId() }]);
    expect(await listed()).toEqual([]);
  });

  test("simulated outcomes never suppress an address, and simulated addresses can be added manually", async () => {
    const { id } = await world.send({
      to: ["bounced@backstamp.test", "complained@backstamp.test", "delivered@backstamp.test"],
    });
    await addSuppressions(world.ctx, ["delivered@backstamp.test"]);
    await tick(world.withTransport(), { budgetMs: 20_000 });
    expect((await world.email(id)).deliveries.map(({ status }) => status)).toEqual([
      "bounced",
      "complained",
      "suppressed",
    ]);
    expect((await listed()).map(({ address }) => address)).toEqual(["delivered@backstamp.test"]);
  });
});
