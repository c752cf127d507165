import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Transport } from "#server/mail/transport/transport";
import { dsn, failed, letter } from "../../mail/bounce/messages";
import { addSignedDomain } from "../../support/dkim-verifier";
import { forAllTests } from "../../support/fixtures";
import { deliverDue } from "../../support/pump-engine";
import { transportTo } from "../../support/relays";
import { type Inbound, startInbound } from "../../support/servers/inbound";
import { startSmtpTestServer } from "../../support/servers/smtp-test-server";
import { createWorld, type World } from "../../support/world";
import { FORMS, type Form, fullReport, inForm } from "./complaint-forms";

const names = { mailHost: null, returnPathDomain: "bounces.example.com", webHost: null };
const noNames = { mailHost: null, returnPathDomain: null, webHost: null };
const feedback = "feedback@bounces.example.com";
let world: World;
let token: string;
const server = forAllTests(() => startSmtpTestServer({}));
let relay: Transport;
let inbound: Inbound;
beforeAll(async () => {
  world = await createWorld({ transportKind: "relay", names });
  await addSignedDomain(world, "signed.example");
  ({ token } = await world.key());
  relay = transportTo(server);
  inbound = await startInbound(world.deps);
});
afterAll(async () => {
  await inbound.close();
  await relay.close();
  await world.close();
});
beforeEach(() => world.hot`delete from suppressions`);

/** Sends an email; returns its id and each recipient's copy, as the recipient's server received it. */
async function deliver(to: string[], { more = {}, as = names as typeof names | typeof noNames } = {}) {
  server.messages.length = 0;
  const { id } = await world.send({ sender: "Ann <ann@signed.example>", to, ...more });
  await deliverDue({ ...world.withTransport(relay), names: as });
  const copies = new Map(
    server.messages.flatMap(({ to, bytes }) => to.map((address) => [address, bytes.toString("latin1")])),
  );
  return { id, messageId: `${id}@signed.example`, copyOf: (address: string) => copies.get(address) ?? "" };
}
/** Without a token: the sender's own Feedback-ID, and no return path of ours. */
const deliverUnmarked = (to: string[]) =>
  deliver(to, { as: noNames, more: { headers: [{ name: "Feedback-ID", value: "a:b:c:own" }] } });

/** Sends a message to an address of the listener; returns the reply code. */
async function bring(raw: string | Buffer, to = feedback, { bring } = inbound): Promise<number> {
  const response = await bring(to, Buffer.from(raw as string, "latin1"), "fbl@provider.example");
  return Number(response.slice(0, 3));
}
/** Submits a message by HTTP; returns what was recorded, and why not. */
async function submit(raw: string): Promise<unknown> {
  const { body } = await world.api("POST", "/api/inbound/message", {
    token: world.deps.inboundToken ?? "",
    raw: Buffer.from(raw, "latin1"),
    headers: { "content-type": "message/rfc822" },
  });
  const { recorded, ignored } = body as { recorded: number; ignored: { reason: string }[] };
  return { recorded, ignored: ignored.map(({ reason }) => reason) };
}

const statusesOf = async (id: string) =>
  Object.fromEntries((await world.email(id)).deliveries.map(({ address, status }) => [address, status]));
const listed = async () =>
  [...(await world.hot`select address, origin from suppressions order by address`)].map((row) => ({
    ...row,
  }));
const totals = async () =>
  (await world.api("GET", "/api/emails/metrics?metrics=sent,complained", { token })).body.totals;

describe("at the feedback address", () => {
  test.each(Object.entries(FORMS))(
    "%s suppresses the recipient whose copy it contains, and no other one",
    async (name, form: Form) => {
      const [ben, cy] = [`ben.${name.length}@example.net`, `cy.${name.length}@example.net`];
      const { id, copyOf } = await deliver([ben, cy]);
      expect(await bring(inForm(form, copyOf(cy), cy))).toBe(250);
      expect(await statusesOf(id)).toEqual({ [ben]: "sent", [cy]: "complained" });
      expect(await listed()).toEqual([{ address: cy, origin: "complaint" }]);
    },
  );

  test("a report that hides every address is found by the Feedback-ID, whose last four parts are the same for all", async () => {
    const { id, copyOf } = await deliver(["ben@example.net", "cy@example.net"]);
    const idOf = (address: string) => /^Feedback-ID:\s+(.*)\r$/m.exec(copyOf(address))?.[1] ?? "";
    const [one = "", other = ""] = ["ben@example.net", "cy@example.net"].map(idOf);
    expect(one.split(":").slice(1)).toEqual(other.split(":").slice(1));
    expect(one.split(":").slice(1)).toEqual(["single", "signed.example", expect.any(String), "backstamp"]);
    expect(one).not.toBe(other);
    expect(await bring(fullReport(`Feedback-ID: ${other}\nTo: redacted@example.net\n\nx\n`, ""))).toBe(250);
    expect(await statusesOf(id)).toEqual({ "ben@example.net": "sent", "cy@example.net": "complained" });
  });

  test("the copy itself, as Microsoft's program can send it, is a complaint about it", async () => {
    const { id, copyOf } = await deliver(["ben@example.net", "cy@example.net"]);
    expect(await bring(`X-HmXmrOriginalRecipient: cy@example.net\r\n${copyOf("cy@example.net")}`)).toBe(250);
    expect(await statusesOf(id)).toEqual({ "ben@example.net": "sent", "cy@example.net": "complained" });
  });

  test("only complaints count: a bounce there changes nothing, whatever it names", async () => {
    const { id, messageId, copyOf } = await deliver(["ben@example.net"]);
    const recipients = [failed("ben@example.net", "550 5.1.1 User unknown")];
    const returned = { text: `${copyOf("ben@example.net").split("\r\n\r\n")[0]}\n` };
    expect(await bring(dsn({ id: messageId, to: feedback, recipients, returned }))).toBe(250);
    expect(await bring(letter("From: ben@example.net\n", "Hello?\n"))).toBe(250);
    expect(await statusesOf(id)).toEqual({ "ben@example.net": "sent" });
    expect(await listed()).toEqual([]);
  });

  test("no other fixed address is accepted, and an installation with only a host name has one there", async () => {
    for (const address of [
      "feedback@example.com",
      "postmaster@bounces.example.com",
      "feedback@mail.example.com",
    ])
      expect([address, await bring("Subject: x\r\n\r\nx\r\n", address)]).toEqual([address, 550]);
    expect(await bring("Subject: x\r\n\r\nx\r\n", "Feedback@Bounces.Example.com")).toBe(250);
    const other = await startInbound({ ...world.deps, names: { ...noNames, mailHost: "mail.example.com" } });
    expect(await bring("Subject: x\r\n\r\nx\r\n", "feedback@mail.example.com", other)).toBe(250);
    expect(await bring("Subject: x\r\n\r\nx\r\n", feedback, other)).toBe(550);
    await other.close();
  });
});

/** Removes a field of the header, with its folded lines. */
const without = (copy: string, field: RegExp) =>
  copy.replace(new RegExp(`^${field.source}.*\r\n(?:[ \t].*\r\n)*`, "gim"), "");
const RSA = /DKIM-Signature: v=1; a=rsa/;
const ED25519 = /DKIM-Signature: v=1; a=ed25519/;

describe("a complaint without a token", () => {
  test.each([
    ["RSA", (copy: string) => without(copy, ED25519)],
    ["Ed25519", (copy: string) => without(copy, RSA)],
    ["only the header", (copy: string) => `${copy.split("\r\n\r\n")[0]}\r\n\r\n`],
    [
      "fields added in transit",
      (copy: string) => `X-HmXmrOriginalRecipient: x@y.example\r\nReceived: by x\r\n${copy}`,
    ],
    ["other folds", (copy: string) => copy.replace(/\r\n[ \t]/g, " ")],
  ])("counts if the header of an email to one recipient is signed by us: %s", async (name, change) => {
    const address = `only.${name.length}@example.net`;
    const { id, copyOf } = await deliverUnmarked([address]);
    expect(copyOf(address)).toContain("Feedback-ID: a:b:c:own\r\n");
    expect(await submit(fullReport(change(copyOf(address)), ""))).toEqual({ recorded: 1, ignored: [] });
    expect(await statusesOf(id)).toEqual({ [address]: "complained" });
    expect(await listed()).toEqual([{ address, origin: "complaint" }]);
  });

  test("of an email whose recipients share a copy is shown for the one that it names, and changes nothing", async () => {
    const shared = ["dan@example.net", "eve@example.net"];
    const { id, copyOf } = await deliverUnmarked(shared);
    const before = await totals();
    const claim = fullReport(copyOf("dan@example.net"), "eve@example.net");
    expect(await submit(claim)).toEqual({ recorded: 1, ignored: [] });
    expect(await submit(fullReport(copyOf("dan@example.net"), "fay@example.net"))).toEqual({
      recorded: 0,
      ignored: ["unknown"],
    });
    expect(await submit(fullReport(copyOf("dan@example.net"), "eve@example.net"))).toEqual({
      recorded: 0,
      ignored: ["repeated"],
    });
    expect(await statusesOf(id)).toEqual({ "dan@example.net": "sent", "eve@example.net": "sent" });
    expect(await listed()).toEqual([]);
    expect((await world.email(id)).events.at(-1)).toMatchObject({
      type: "email.complaint_claimed",
      recipient: "eve@example.net",
      data: { reason: expect.stringContaining("not proven") },
    });
    expect(await totals()).toEqual(before);
  });

  test.each<[name: string, forge: (victim: string, own: string, victimId: string) => string]>([
    ["its Message-ID and recipient", (_, __, id) => `Message-ID: <${id}>\r\nSubject: Hello\r\n\r\nx\r\n`],
    ["another subject", (victim) => victim.replace(/^Subject: .*$/m, "Subject: Buy now\r")],
    [
      "the signatures of another email",
      (_, own, id) => own.replace(/^Message-ID: .*$/m, `Message-ID: <${id}>\r`),
    ],
    ["a second Message-ID above a signed one", (_, own, id) => `Message-ID: <${id}>\r\n${own}`],
    [
      "a second Message-ID below a signed one",
      (_, own, id) => own.replace("\r\n\r\n", `\r\nMessage-ID: <${id}>\r\n\r\n`),
    ],
    ["a Message-ID that decoding adds", (_, own, id) => `X-A: =0AMessage-ID: <${id}>\r\n${own}`],
    ["signatures that cover no Message-ID", (victim) => victim.replace(/message-id:/g, "")],
    ["the key of another algorithm", (victim) => without(victim, ED25519).replace("a=rsa-", "a=ed25519-")],
    ["no signature", (victim) => without(victim, /DKIM-Signature:/)],
  ])("is ignored with a forged header: %s", async (name, forge) => {
    const victim = `victim.${name.length}@example.net`;
    const target = await deliverUnmarked([victim]);
    const own = await deliverUnmarked(["attacker@example.net"]);
    const forged = forge(target.copyOf(victim), own.copyOf("attacker@example.net"), target.messageId);
    for (const encoding of ["7bit", "quoted-printable"]) {
      const raw = fullReport(forged, victim).replace(
        "Content-Type: message/rfc822",
        `$&\r\nContent-Transfer-Encoding: ${encoding}`,
      );
      expect(await bring(raw)).toBe(250);
      await submit(raw);
    }
    expect(await statusesOf(target.id)).toEqual({ [victim]: "sent" });
    expect((await listed()).map(({ address }) => address)).not.toContain(victim);
    expect((await world.email(target.id)).events.map(({ type }) => type)).not.toContain("email.complained");
  });

  test("names what is missing in the response", async () => {
    const { copyOf } = await deliverUnmarked(["gil@example.net"]);
    const raw = fullReport(without(copyOf("gil@example.net"), /DKIM-Signature:/), "gil@example.net");
    expect(await submit(raw)).toEqual({ recorded: 0, ignored: ["unproven"] });
  });
});

test("an automatic reply is one event of its recipient, with its webhook, and changes nothing else", async () => {
  await world.hot`
    insert into webhooks (id, team_id, url, events, secret)
    values (gen_random_uuid(), ${world.ctx.teamId}, 'https://example.com/hook', '{email.auto_replied}', 'x')`;
  const { id } = await deliver(["ben@example.net", "cy@example.net"]);
  const path = server.messages.find(({ to }) => to.includes("cy@example.net"))?.from ?? "";
  const before = await totals();
  for (const subject of ["Out of office", "Out of office again"]) {
    const reply = letter(
      `From: cy@example.net\nSubject: ${subject}\nAuto-Submitted: auto-replied\n`,
      "I am away.\n",
    );
    expect(await bring(reply, path)).toBe(250);
  }
  const { body } = await world.api("GET", `/api/emails/${id}`, { token });
  const events = body.events as { type: string; recipient: string }[];
  expect(events.filter(({ type }) => type === "email.auto_replied")).toMatchObject([
    { recipient: "cy@example.net" },
  ]);
  expect(await statusesOf(id)).toEqual({ "ben@example.net": "sent", "cy@example.net": "sent" });
  expect(await totals()).toEqual(before);
  expect(await listed()).toEqual([]);
  const queued = await world.hot`select type from webhook_deliveries where email_id = ${id}`;
  expect([...queued]).toEqual([{ type: "email.auto_replied" }]);
});
