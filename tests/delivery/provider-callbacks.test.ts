import { beforeAll, expect, test } from "vitest";
import type { RelayProvider } from "#db/schema/relays";
import { callbackPathOf, setCallback } from "#server/services/callbacks/secrets";
import { removeRelay } from "#server/services/relays/write";
import { forAllTests } from "../support/fixtures";
import { deliverDue } from "../support/pump-engine";
import { relayTo } from "../support/relays";
import {
  type FakeProvider,
  fakeMailgun,
  fakePostmark,
  fakeResend,
  fakeSendgrid,
  fakeSes,
} from "../support/servers/providers";
import { startSmtpTestServer } from "../support/servers/smtp-test-server";
import { startSnsIssuer } from "../support/servers/sns-issuer";
import {
  fakeBrevo,
  fakeMailersend,
  fakeMailjet,
  fakeScaleway,
  fakeSparkpost,
} from "../support/servers/table-providers";
import { createWorld } from "../support/world";

const world = forAllTests(() => createWorld({ transportKind: "none" }));
const issuer = forAllTests(() => startSnsIssuer());
const scaleway = forAllTests(() => startSnsIssuer("scaleway"));
let token: string;
beforeAll(async () => {
  world.deps.outside = issuer.outside;
  ({ token } = await world.key());
});

const ACCEPTS: Record<RelayProvider, { make: () => FakeProvider; says: (id: string) => string }> = {
  ses: { make: () => fakeSes(issuer), says: (id) => `250 Ok ${id}` },
  postmark: { make: fakePostmark, says: () => "250 2.0.0 Ok: queued as 6A59F1C0" },
  mailgun: { make: fakeMailgun, says: () => "250 Great success" },
  sendgrid: { make: fakeSendgrid, says: (id) => `250 Ok: queued as ${id}` },
  resend: { make: fakeResend, says: (id) => `250 ${id}` },
  brevo: { make: fakeBrevo, says: (id) => `250 2.0.0 OK: queued as <${id}>` },
  mailjet: { make: fakeMailjet, says: () => "250 OK queued as a08b7f37-ed61-423a-ba75-38ed2fd4b54c" },
  sparkpost: { make: fakeSparkpost, says: () => "250 2.0.0 OK 5F/3B-10239-A0C45A75" },
  scaleway: { make: () => fakeScaleway(scaleway), says: () => "250 2.0.0 OK" },
  mailersend: { make: fakeMailersend, says: (id) => `250 Message queued as ${id}` },
};

/** The header by which a provider identifies the email with this id; none for the others. */
const MARKS: Partial<Record<RelayProvider, (id: unknown) => string>> = {
  postmark: (id) => `X-PM-Metadata-backstamp: ${id}`,
  mailjet: (id) => `X-MJ-CustomID: ${id}`,
  sparkpost: (id) => `X-MSYS-API: {"metadata":{"backstamp":"${id}"}}`,
};

test.each(Object.keys(ACCEPTS) as RelayProvider[])(
  "a callback of %s finds the email that a worker sent by it, and other relays get no tracking header",
  async (provider) => {
    const { make, says } = ACCEPTS[provider];
    world.deps.outside = (provider === "scaleway" ? scaleway : issuer).outside;
    const fake = make();
    const ownId = fake.newProviderId("");
    const peer = await startSmtpTestServer({ message: says(ownId) });
    const relay = await relayTo(world.deps, peer, { provider });
    await setCallback(world.deps, relay, fake.given);

    const address = `ben@${provider}.example`;
    const mail = { from: "ann@example.org", to: address, subject: "Hello", text: "Hello" };
    const { body } = await world.api("POST", "/api/emails", { token, body: mail });
    await deliverDue({ ...world.deps, transport: null });
    const read = async () => (await world.api("GET", `/api/emails/${body.id}`, { token })).body;
    const email = await read();
    expect(email).toMatchObject({ status: "sent" });
    const wire = peer.messages[0]?.bytes.toString("latin1") ?? "";
    const marks = /^(?:x-pm-|x-mj-|x-msys-).*/gim;
    expect(wire.match(marks) ?? []).toEqual(MARKS[provider] ? [MARKS[provider](body.id)] : []);

    const messageId = /^Message-ID: <(.*)>/im.exec(wire)?.[1] ?? "";
    const providerId = fake.newProviderId(messageId).startsWith(String(body.id))
      ? fake.newProviderId(messageId)
      : ownId;
    const callback = fake.report({ kind: "bounced", providerId, address });
    const reply = await world.api("POST", callbackPathOf(relay.id), fake.call(callback, world.clock.now()));
    expect(reply.body).toMatchObject({ recorded: 1 });
    expect(await read()).toMatchObject({ status: "bounced" });
    await removeRelay(world.deps, relay);
    await peer.close();
  },
);

test.each(["X-PM-Metadata-Backstamp", "X-MJ-CustomID", "X-MSYS-API"])(
  "a caller cannot set the tracking header %s of another email",
  async (name) => {
    const headers = { [name]: "0198c1f2-7a34-7c5e-9b0d-3f4a5b6c7d8e" };
    const body = { from: "ann@example.org", to: "ben@example.com", subject: "Hello", text: "Hello", headers };
    const { status, body: response } = await world.api("POST", "/api/emails", { token, body });
    expect(status).toBe(422);
    expect(response.message).toContain(name);
  },
);
