import { describe, expect, test, vi } from "vitest";
import { createEngine } from "#server/delivery/engine";
import { tick } from "#server/delivery/tick";
import type { Ctx } from "#server/deps";
import { createConvertToText } from "#server/mail/mime/html-text";
import type { Recipient } from "#server/mail/transport/transport";
import { silentLog } from "#server/platform/log";
import { TooLong } from "#server/platform/threads";
import { addDomain } from "#server/services/domains/write";
import { getSource } from "#server/services/emails/read/source";
import { createTeam } from "#server/services/teams";
import { createCountingTransport } from "../support/counting-transport";
import { forEachTest } from "../support/fixtures";
import { createGate } from "../support/gate";
import { pumpEngine } from "../support/pump-engine";
import { transportTo } from "../support/relays";
import { DROP, startSmtpTestServer } from "../support/servers/smtp-test-server";
import { createWorld } from "../support/world";

const eventually = { timeout: 50_000, interval: 20 };
/** A newsletter of 100 KB without a text part. */
const newsletter = "<table><tr><td><h2>Offer</h2><p>Dear <b>reader</b></p></td></tr></table>".repeat(1_400);

const world = forEachTest(() => createWorld({ transportKind: "relay" }));

async function otherTeam(): Promise<Ctx> {
  const { id } = await createTeam(world.deps, { name: "Other" });
  const ctx = { ...world.ctx, teamId: id };
  await addDomain(ctx, { name: "other.example", verified: true });
  return ctx;
}

/** In steps, because a slow machine would reject some of 120 concurrent requests. */
async function sendMany(count: number): Promise<void> {
  const sendOne = (n: number) => world.send({ html: newsletter, to: [`reader${n}@many.example`] });
  for (let from = 0; from < count; from += 30)
    await Promise.all(Array.from({ length: 30 }, (_, n) => sendOne(from + n)));
}

test("120 long newsletters of one team delay another team's newsletter by a few at most", async () => {
  await sendMany(120);
  const other = await otherTeam();
  const out = createCountingTransport("relay");
  const engine = createEngine(world.withTransport(out.transport), { dialoguesMax: 10 });
  const stopPumping = pumpEngine(engine, 5);
  try {
    await vi.waitFor(() => expect(out.handedOver.length).toBeGreaterThan(10), eventually);
    await world.send({ html: newsletter, sender: "a@other.example", to: ["one@single.example"] }, other);
    const before = out.handedOver.length;
    await vi.waitFor(() => expect(out.handedOver).toContain("one@single.example"), eventually);
    expect(out.handedOver.indexOf("one@single.example") - before).toBeLessThan(40);
    // And none of the first team's emails is lost or sent twice.
    await vi.waitFor(() => expect(out.handedOver).toHaveLength(121), eventually);
    expect(new Set(out.handedOver).size).toBe(121);
  } finally {
    await stopPumping();
    await engine.drain(1_000);
  }
});

test("while a text is generated, emails that need none are delivered, also those of the same team", async () => {
  const { id } = await world.send({ html: newsletter, to: ["slow@example.net"] });
  for (const n of [1, 2, 3]) await world.send({ to: [`quick${n}@example.net`] });
  const out = createCountingTransport("relay");
  const { passed: gone, open: go } = createGate();
  const convertToText = async (_: string, html: string) => {
    if (html === newsletter) await gone;
    return "made";
  };
  const rounds = tick({ ...world.withTransport(out.transport), convertToText }, { budgetMs: 50_000 });
  await vi.waitFor(() => expect(out.handedOver).toHaveLength(3), eventually);
  expect(out.handedOver).not.toContain("slow@example.net");
  expect((await world.email(id)).deliveries).toMatchObject([{ status: "sending" }]);
  go();
  await rounds;
  expect(out.handedOver).toContain("slow@example.net");
  expect(await world.email(id)).toMatchObject({ status: "sent" });
});

describe("a text that could not be generated in time", () => {
  async function startServer(answers: (typeof DROP | string)[]) {
    const peer = await startSmtpTestServer({ message: answers });
    const transport = transportTo(peer);
    const close = async () => {
      await transport.close();
      await peer.close();
    };
    return { peer, transport, close };
  }

  test.each([
    ["", newsletter],
    [", whose body is too large to be read with others", newsletter.repeat(3)],
  ])("remains the email's text: the next attempt sends the same bytes%s", async (_, html) => {
    const { peer, transport, close } = await startServer([DROP, "250 2.0.0 kept"]);
    const { id } = await world.send({ html });
    const convertToText = createConvertToText({
      log: silentLog,
      // A thread can be faster than any real limit on a machine that is busy otherwise.
      threads: { ...world.deps.threads, read: () => Promise.reject(new TooLong()) },
    });
    await tick({ ...world.withTransport(transport), convertToText }, { budgetMs: 20_000 });
    await world.elapse("20 minutes");
    await tick(world.withTransport(transport), { budgetMs: 20_000 });
    expect(await world.email(id)).toMatchObject({ status: "sent", text: null });
    expect(peer.messages).toHaveLength(2);
    const [first, second] = peer.messages.map(({ bytes }) => bytes.toString("latin1"));
    // The HTML without its tags: the converter would add an empty line between a heading and a paragraph.
    expect(first).toContain("\r\nOffer\r\n\r\nDear reader\r\n");
    expect(second).toBe(first);
    const displayed = Buffer.from((await getSource(world.ctx, id)).bytes).toString("latin1");
    expect(displayed.slice(displayed.indexOf("\r\n\r\n"))).toBe(first?.slice(first.indexOf("\r\n\r\n")));
    await close();
  });

  test("is the same for all recipients, in any order of attempts", async () => {
    const out: string[] = [];
    const { id } = await world.send({
      html: newsletter,
      to: ["a@one.example", "b@two.example"],
      listUnsubscribe: true,
    });
    const convertToText = async () => `text ${out.push("made")}`;
    const bodies: string[] = [];
    const transport = {
      ...createCountingTransport("relay").transport,
      deliver: async (message: { bytes: Uint8Array }, recipients: readonly Recipient[]) => {
        bodies.push(Buffer.from(message.bytes).toString("latin1"));
        return createCountingTransport("relay").transport.deliver(message as never, recipients, {} as never);
      },
    };
    await tick({ ...world.withTransport(transport), convertToText }, { budgetMs: 20_000 });
    expect(bodies).toHaveLength(2);
    for (const body of bodies) expect(body).toContain("\r\ntext 1\r\n");
    expect(await world.email(id)).toMatchObject({ status: "sent" });
  });
});
