import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { quote } from "#server/mail/outcome";
import type { OutgoingMessage, Transport } from "#server/mail/transport/transport";
import { addSignedDomain, verifySigned } from "../../support/dkim-verifier";
import { type InstalledServer, waitForServer } from "../../support/processes/installed-server";
import { deliverDue } from "../../support/pump-engine";
import { startTestInternet, type TestInternet } from "../../support/servers/test-internet";
import { createWorld } from "../../support/world";
import { type RejectingReply, readStored, SERVERS } from "./destination-servers";
import { addedTo, composeUnusual, messageIdOf, wireText } from "./unusual-emails";

const eventually = { timeout: 60_000, interval: 50 };
const notInstalled = "It is not installed.";
const sender = "Gärtnerei <ann@signed.example>";

const MX_HOSTS = SERVERS.map((server, nth) => ({ ...server, host: `127.0.0.${2 + nth}` }));

let folder: string;
let internet: TestInternet;
const installed = new Map<string, InstalledServer>();

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), "backstamp-destinations-"));
  internet = await startTestInternet({});
  await Promise.all(
    MX_HOSTS.map(async ({ name, domain, host, start }) => {
      for (const each of [domain, `elsewhere.${domain}`])
        internet.zone[each] = { mx: [[10, `mx.${domain}`]] };
      internet.zone[`mx.${domain}`] = { a: [host] };
      try {
        installed.set(name, await start(folder, { host, port: internet.port }));
      } catch (error) {
        const [reason] = String(error).split("\n");
        process.stdout.write(`NOT RUN: ${name} cannot be installed here (${reason}).\n`);
      }
    }),
  );
});
afterAll(async () => {
  await Promise.all([...installed.values()].map(({ close }) => close()));
  await internet?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** An installation whose messages to this server are in `sent`. Null if the server is not installed. */
async function openSender(destination: (typeof MX_HOSTS)[number]) {
  const server = installed.get(destination.name);
  if (!server) return null;
  await waitForServer(server, internet.port, destination.host);
  const world = await createWorld({ transportKind: "direct" });
  await addSignedDomain(world, "signed.example");
  const sent: OutgoingMessage[] = [];
  const direct = internet.transport();
  const transport: Transport = {
    ...direct,
    deliver: (message, ...rest) => {
      sent.push(message);
      return direct.deliver(message, ...rest);
    },
  };
  return {
    world,
    sent,
    version: server.version,
    round: () => deliverDue(world.withTransport(transport)),
    /** The copies of these emails, once there are so many. */
    waitForStored: (ids: string[], count: number) =>
      vi.waitFor(() => {
        const stored = readStored(destination, server);
        const copies = stored.filter((text) => ids.some((id) => messageIdOf(text).includes(id)));
        expect(copies.length, server.output()).toBe(count);
        return copies;
      }, eventually),
  };
}

describe.each(MX_HOSTS)("$name as the MX host", (destination) => {
  const { domain, adds, stores, replies } = destination;
  let opened: Awaited<ReturnType<typeof openSender>> = null;
  beforeAll(async () => {
    opened = await openSender(destination);
  });
  afterAll(() => opened?.world.close());

  test("stores byte for byte what it accepts, over TLS if possible, with both signatures valid", async ({
    skip,
  }) => {
    const { world, sent, version, round, waitForStored } = opened ?? skip(notInstalled);
    const ids: string[] = [];
    // One after the other: behind a dialogue that takes long, others are postponed.
    for (const email of await composeUnusual()) {
      ids.push((await world.send({ ...email, sender, to: [`Ben Bär <ben@${domain}>`] })).id);
      await round();
    }
    const security = destination.isTlsBroken?.(version) ? "without TLS" : "over TLS 1.3, not verified";
    const accepted = `mx.${domain} accepted the email ${security}.`;
    const deliveries = (await Promise.all(ids.map(world.email))).flatMap((email) => email.deliveries);
    expect(deliveries.map(({ status, lastReason }) => [status, lastReason])).toEqual(
      ids.map(() => ["delivered", accepted]),
    );
    expect(sent).toHaveLength(ids.length);
    const stored = await waitForStored(ids, ids.length);
    for (const message of sent) {
      const own = wireText(message);
      const copy = stored.find((text) => text.includes(messageIdOf(own)));
      expect(addedTo(own, copy)).toEqual(adds);
    }
    const bytes = stored.map((text) => Buffer.from(text, "latin1"));
    const valid = bytes.map(() => [true, true]);
    expect((await verifySigned(world.ctx, "signed.example", bytes)) ?? valid).toEqual(valid);
  });

  test("decides on each recipient of a transaction, and only a temporarily rejected one is retried", async ({
    skip,
  }) => {
    const { world, round, waitForStored } = opened ?? skip(notInstalled);
    const names = ["ben", "nobody", "late", "cy"].map((name) => `${name}@${domain}`);
    const elsewhere = `ben@elsewhere.${domain}`;
    const { id } = await world.send({ sender, to: [...names, elsewhere] });
    const listStates = async () =>
      (await world.email(id)).deliveries.map(({ address, status, attempts, replyClass, ...last }) => [
        `${address} ${status}`,
        { attempts, replyClass },
        quote({ code: last.lastCode, enhanced: last.lastEnhanced, text: last.lastText ?? "" }),
      ]);
    const accepted = [{ attempts: 1, replyClass: null }, expect.stringMatching("^250 ")];
    const rejected = ({ replyClass, text }: RejectingReply, attempts = 1) => [{ attempts, replyClass }, text];
    const statesAfter = (attempts: number) => [
      [`ben@${domain} delivered`, ...accepted],
      [`nobody@${domain} bounced`, ...rejected(replies.nobody)],
      [`late@${domain} queued`, ...rejected(replies.late, attempts)],
      [`cy@${domain} delivered`, ...accepted],
      [`${elsewhere} bounced`, ...rejected(replies.elsewhere)],
    ];
    await round();
    expect(await listStates()).toEqual(statesAfter(1));
    const { events } = await world.email(id);
    for (const name of names)
      expect(
        events.find(({ recipient, data }) => recipient === name && data.dialogue)?.data.dialogue,
      ).toContain("3 other recipients in this transaction");
    // A server that rejects a whole domain says the same of each of its addresses.
    const dead = replies.elsewhere.replyClass === "hard" ? [elsewhere, names[1]] : [names[1]];
    const listed = await world.hot`select address, origin from suppressions order by address`;
    expect([...listed]).toEqual(dead.map((address) => ({ address, origin: "bounce" })));

    await world.elapse("1 hour");
    await round();
    expect(await listStates()).toEqual(statesAfter(2));
    await waitForStored([id], stores.length);
  });
});
