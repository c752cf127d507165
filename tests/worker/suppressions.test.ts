import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { claimDeliveries, markHandedOver } from "#db/queue";
import { recordResults } from "#db/results";
import { newId } from "#server/ids";
import { createRelay } from "#server/mail/transport/relay";
import { parseSmtpUrl } from "#server/mail/transport/smtp-url";
import type { Transport } from "#server/mail/transport/transport";
import { addSuppressions } from "#server/services/suppressions/add";
import { listSuppressions } from "#server/services/suppressions/read";
import { settleOutcome } from "#server/worker/settle";
import { tick } from "#server/worker/tick";
import { type House, openHouse } from "../support/house";
import { type FaultPeer, type FaultScript, startFaultPeer } from "../support/smtp-peer";

let house: House;
let peer: FaultPeer;
let transport: Transport;

beforeEach(async () => {
  house = await openHouse({ transportKind: "relay" });
});
afterEach(async () => {
  await transport?.close();
  await peer?.close();
  await house.close();
});

async function relayTo(script: FaultScript = {}): Promise<void> {
  peer = await startFaultPeer(script);
  const url = parseSmtpUrl(`smtp://127.0.0.1:${peer.port}`);
  if (!url.ok) throw new Error(url.fault);
  transport = createRelay(url.target);
}

const round = () => tick(house.withTransport(transport), { budgetMs: 20_000 });
const listed = async () =>
  (await listSuppressions(house.ctx, { limit: 100 })).rows.map(({ address, origin, sourceEmailId }) => ({
    address,
    origin,
    sourceEmailId,
  }));

/** An endpoint that asks for what happens to the list; nothing is ever sent to it here. */
const listen = () => house.hot`
  insert into webhooks (id, team_id, url, events, secret)
  values (${newId()}, ${house.ctx.teamId}, 'https://example.com/', '{suppression.added}', 'x')`;
const announced = async () =>
  (await house.hot<{ payload: string }[]>`select payload from webhook_deliveries order by id`).map(
    ({ payload }) => JSON.parse(payload),
  );

describe("an address suppressed after queueing", () => {
  test("is never contacted, in whatever letter case, and the others get their mail", async () => {
    await relayTo();
    const { id } = await house.send({ to: ["Ann@Example.com", "ben@example.net"] });
    await addSuppressions(house.ctx, ["ann@example.COM"]);
    await round();
    expect(peer.messages.map(({ to }) => to)).toEqual([["ben@example.net"]]);
    expect(peer.commands.join()).not.toMatch(/RCPT TO:<ann/i);
    const email = await house.email(id);
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

  test("is not contacted either where it is suppressed between the claim and the dialogue", async () => {
    const { id } = await house.send({ to: ["ann@example.com", "ben@example.net"] });
    const claims = await claimDeliveries(house.hot, { limit: 10, leaseToken: newId() });
    await addSuppressions(house.ctx, ["ann@example.com"]);
    const marked = await markHandedOver(house.hot, claims);
    expect(claims.filter((claim) => marked.has(claim.id)).map(({ address }) => address)).toEqual([
      "ben@example.net",
    ]);
    expect((await house.email(id)).deliveries.map(({ stage }) => stage)).toEqual(["claimed", "handed_over"]);
  });

  test("is set aside also while there is no way out", async () => {
    const { id } = await house.send({ to: ["ann@example.com"] });
    await addSuppressions(house.ctx, ["ann@example.com"]);
    await tick(house.withTransport(null), { budgetMs: 20_000 });
    expect((await house.email(id)).status).toBe("suppressed");
  });

  test("waits, with all others, where the list cannot be asked", async () => {
    await relayTo();
    const { id } = await house.send({ to: ["ann@example.com", "ben@example.net"] });
    await house.hot`alter table suppressions rename to hidden`;
    await expect(round()).rejects.toThrow();
    expect(peer.messages).toEqual([]);
    expect(peer.connections()).toBe(0);
    await house.hot`alter table hidden rename to suppressions`;
    await house.elapse(61_000);
    await round();
    expect((await house.email(id)).status).toBe("sent");
  });
});

describe("what comes back", () => {
  test("a hard bounce suppresses its address, with the mail that showed it; policy and full mailboxes do not", async () => {
    const replies: Record<string, string> = {
      gone: "550 5.1.1 no such user",
      policy: "550 5.7.1 no such user, for you",
      full: "552 5.2.2 mailbox full",
      words: "550 no such user",
    };
    await relayTo({ rcpt: ({ address }) => replies[address.split("@")[0] ?? ""] ?? "250 ok" });
    await listen();
    const to = Object.keys(replies).map((local) => `${local}@example.net`);
    const { id } = await house.send({ to: [...to, "ben@example.net"] });
    await round();
    const entry = { address: "gone@example.net", origin: "bounce", sourceEmailId: id };
    expect(await listed()).toEqual([entry]);
    expect(await announced()).toEqual([
      {
        type: "suppression.added",
        created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        data: {
          id: expect.any(String),
          email: "gone@example.net",
          origin: "bounce",
          lists_only: false,
          source_id: id,
          created_at: expect.any(String),
        },
      },
    ]);
    const again = await house.send({ to: ["gone@example.net", "ben@example.net"] });
    peer.commands.length = 0;
    await round();
    expect(peer.commands.join()).not.toContain("gone@");
    const { events } = await house.email(again.id);
    expect(events.find(({ type }) => type === "email.suppressed")?.data.suppressedBy).toBe("previous_bounce");
    expect(await listed()).toEqual([entry]);
  });

  test("a complaint suppresses its address, and one that stands on the list stays as it is", async () => {
    await addSuppressions(house.ctx, ["cy@example.net"]);
    await listen();
    const { id } = await house.send({ to: ["Ann@example.com", "cy@example.net"] });
    const claims = await claimDeliveries(house.hot, { limit: 10, leaseToken: newId() });
    const reply = { code: 250, enhanced: null, text: "ok" };
    await recordResults(
      house.hot,
      claims.map((claim) =>
        settleOutcome(
          claim,
          { recipient: claim.address, kind: "accepted", reply, host: "mx", reason: "Accepted." },
          { policy: "retry", random: 0, isFinal: true, complains: true },
        ),
      ),
    );
    expect(await listed()).toEqual([
      { address: "ann@example.com", origin: "complaint", sourceEmailId: id },
      { address: "cy@example.net", origin: "manual", sourceEmailId: null },
    ]);
    expect((await announced()).map(({ data }) => data.email)).toEqual(["ann@example.com"]);
  });

  test("a result that is dropped because the lease was lost suppresses nobody", async () => {
    await house.send({ to: ["ann@example.com"] });
    const [claim] = await claimDeliveries(house.hot, { limit: 1, leaseToken: newId() });
    if (!claim) throw new Error("nothing was due");
    const reply = { code: 550, enhanced: "5.1.1", text: "no such user" };
    const result = settleOutcome(
      claim,
      { recipient: claim.address, kind: "rejected", reply, host: "mx", step: "rcpt", reason: "Refused." },
      { policy: "retry", random: 0, isFinal: false },
    );
    expect(result.suppression).toBeDefined();
    await recordResults(house.hot, [{ ...result, leaseToken: newId() }]);
    expect(await listed()).toEqual([]);
  });

  test("the fates of scripted recipients never enter the list, and their addresses may be put there by hand", async () => {
    const { id } = await house.send({
      to: ["bounced@posthorn.test", "complained@posthorn.test", "delivered@posthorn.test"],
    });
    await addSuppressions(house.ctx, ["delivered@posthorn.test"]);
    await tick(house.withTransport(), { budgetMs: 20_000 });
    expect((await house.email(id)).deliveries.map(({ status }) => status)).toEqual([
      "bounced",
      "complained",
      "suppressed",
    ]);
    expect((await listed()).map(({ address }) => address)).toEqual(["delivered@posthorn.test"]);
  });
});
