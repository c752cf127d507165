import { beforeEach, expect, test } from "vitest";
import { createEngine } from "#server/delivery/engine";
import { probePausedRelays } from "#server/delivery/routing/relay-faults";
import { createRouting } from "#server/delivery/routing/routes";
import { tick } from "#server/delivery/tick";
import type { WorkerDeps } from "#server/deps";
import { createKeyring } from "#server/platform/secrets/keyring";
import { createVault } from "#server/platform/secrets/vault";
import { getReadiness } from "#server/services/health";
import { listRelays } from "#server/services/relays/read";
import { updateRelay } from "#server/services/relays/write";
import { closeAfterTest, forEachTest } from "../support/fixtures";
import { deliverDue } from "../support/pump-engine";
import { relayTo } from "../support/relays";
import {
  type Act,
  DROP,
  EHLO_AUTH,
  type SmtpScript,
  type SmtpTestServer,
  startSmtpTestServer,
} from "../support/servers/smtp-test-server";
import { createWorld } from "../support/world";

const world = forEachTest(() => createWorld({ transportKind: "none" }));
const logged: { level: string; event: string; fields: Record<string, unknown> }[] = [];

beforeEach(async () => {
  logged.splice(0);
});
const peerWith = async (script: SmtpScript = {}): Promise<SmtpTestServer> =>
  closeAfterTest(await startSmtpTestServer(script));

/** A separate worker with a recorded log. */
function worker(): WorkerDeps {
  const logTo =
    (level: string) =>
    (event: string, fields: Record<string, unknown> = {}) => {
      logged.push({ level, event, fields });
    };
  const log = { ...world.deps.log, info: logTo("info"), warn: logTo("warn"), error: logTo("error") };
  return { ...world.withTransport(null), log };
}

const round = (deps = worker()) => deliverDue(deps);
const scheduledRound = (deps = worker()) => tick(deps, { budgetMs: 60_000 });
const logins = (peer: SmtpTestServer) => peer.commands.filter((line) => line.startsWith("AUTH")).length;
/** One after another: many at once would wait for a connection longer than the product allows. */
async function sendMany(count: number) {
  const sent = [];
  for (let n = 0; n < count; n++) sent.push(await world.send());
  return sent;
}

test("a rejected login pauses the relay for all workers: one probe a minute, without email, and no bounces", async () => {
  let answer: Act = "535 5.7.8 bad credentials";
  const peer = await peerWith({ ehlo: EHLO_AUTH, auth: () => answer });
  await relayTo(world.deps, peer, { name: "main", login: "user:secret-word@" });
  const ids = await sendMany(10);
  await round();
  await Promise.all([round(), round(), round()]);
  expect(logins(peer)).toBe(1);
  const emails = await Promise.all(ids.map(({ id }) => world.email(id)));
  for (const { deliveries, events } of emails) {
    expect(deliveries[0]).toMatchObject({ status: "queued", waitRule: "relay_paused" });
    expect(events.length).toBeLessThanOrEqual(2);
  }
  expect(logged.filter(({ event }) => event === "relay.paused")).toHaveLength(1);

  // A minute later there is one more, for any number of workers and waiting emails.
  await world.elapse("61 seconds");
  await Promise.all([scheduledRound(), round(), round()]);
  expect(logins(peer)).toBe(2);
  expect(peer.commands.some((line) => line.startsWith("MAIL"))).toBe(false);

  answer = "235 2.7.0 welcome";
  await world.elapse("20 minutes");
  await round();
  expect(logged.some(({ event }) => event === "relay.resumed")).toBe(true);
  await world.elapse("20 minutes");
  await round();
  const statuses = await Promise.all(ids.map(async ({ id }) => (await world.email(id)).status));
  expect(new Set(statuses)).toEqual(new Set(["sent"]));
  expect(peer.messages).toHaveLength(10);
  expect(JSON.stringify(logged)).not.toContain("secret-word");
});

test("an attempt that fails because of the relay itself is not counted, so email survives any outage", async () => {
  const peer = await peerWith({ greeting: DROP });
  await relayTo(world.deps, peer);
  const { id } = await world.send();
  for (let days = 0; days < 3; days++) {
    await round();
    await world.elapse("1 day");
    await world.hot`update relays set paused_until = null, failures = 0`;
  }
  expect((await world.email(id)).deliveries[0]).toMatchObject({
    status: "queued",
    attempts: 1,
    waitRule: "relay_paused",
  });
});

test("repeated connection failures pause a relay, a single one does not", async () => {
  const peer = await peerWith({ greeting: [DROP, "220 hello", DROP, DROP, DROP] });
  await relayTo(world.deps, peer);
  const faults = async () => {
    const [relay] = await listRelays(world.deps);
    return { failures: relay?.failures, isPaused: relay?.isPaused };
  };
  const { id } = await world.send();
  await round();
  expect(await faults()).toEqual({ failures: 1, isPaused: false });
  await world.elapse("5 minutes");
  await round();
  expect((await world.email(id)).status).toBe("sent");
  expect(await faults()).toEqual({ failures: 0, isPaused: false });
  for (let failures = 1; failures <= 3; failures++) {
    await world.send();
    await round();
    await world.elapse("5 minutes");
    await world.hot`delete from deliveries where status = 'queued'`;
    expect(await faults()).toEqual({ failures, isPaused: failures === 3 });
  }
});

test("a relay that drops each email after the login is paused, and what it did not reply to then is not counted", async () => {
  const peer = await peerWith({ mail: DROP });
  await relayTo(world.deps, peer);
  const { id } = await world.send();
  const delivery = async () => (await world.email(id)).deliveries[0];
  for (let n = 1; n <= 2; n++) {
    await round();
    expect(await delivery()).toMatchObject({ attempts: n, waitRule: "retry_schedule" });
    await world.elapse("20 minutes");
  }
  await round();
  expect(await delivery()).toMatchObject({ attempts: 2, waitRule: "relay_paused", status: "queued" });
  // The probe succeeds each time. An email that makes its relay drop the connection fails all the same.
  await world.hot`update deliveries set attempts = 11`;
  for (let days = 0; days < 6 && (await delivery())?.status === "queued"; days++) {
    await world.elapse("2 days");
    await round();
  }
  expect(await delivery()).toMatchObject({ attempts: 13, status: "failed" });
});

test("faults with a success between them are not consecutive, also within one claim", async () => {
  const peer = await peerWith({ rcpt: ({ address }) => (address.startsWith("drop") ? DROP : "250 ok") });
  await relayTo(world.deps, peer);
  const routing = createRouting(worker());
  const route = (await routing.read([world.id]))({ teamId: world.id, domainId: null });
  const bytes = Buffer.from("Subject: Hello\r\n\r\nHello\r\n");
  const kinds: (string | undefined)[] = [];
  for (const name of ["drop1", "drop2", "kept1", "drop3", "drop4", "kept2"]) {
    const address = `${name}@example.net`;
    const message = { id: name, returnPath: "ann@example.org", bytes, smtpUtf8: false };
    const watch = { deadlineMs: 10_000, isLeaseValid: () => true };
    const outcomes = await route?.deliver(message, [{ address, domain: "example.net" }], watch);
    kinds.push(outcomes?.[0]?.kind);
  }
  await routing.close();
  expect(kinds).toEqual(["deferred", "deferred", "accepted", "deferred", "deferred", "accepted"]);
  const [relay] = await listRelays(world.deps);
  expect(relay).toMatchObject({ failures: 0, isPaused: false });
});

test("a paused relay is skipped, and the next one sends its email", async () => {
  const [first, second] = [
    await peerWith({ ehlo: EHLO_AUTH, auth: "535 5.7.8 bad credentials" }),
    await peerWith(),
  ];
  await relayTo(world.deps, first, { login: "user:wrong@" });
  await relayTo(world.deps, second);
  await sendMany(5);
  await round();
  await sendMany(5);
  await round();
  expect(logins(first)).toBe(1);
  expect(second.messages).toHaveLength(10);
});

test("a paused relay is reported in readiness and in the list with the reason and without the password", async () => {
  const peer = await peerWith({ ehlo: EHLO_AUTH, auth: "535 5.7.8 bad credentials" });
  await relayTo(world.deps, peer, { name: "main", login: "user:secret-word@" });
  await world.send();
  const deps = worker();
  expect(await getReadiness(deps)).toMatchObject({ isReady: true, alarms: [{ alarm: "no_worker" }] });
  await scheduledRound(deps);
  expect(await getReadiness(deps)).toMatchObject({
    isReady: true,
    alarms: [{ alarm: "relays_paused", count: 1, message: expect.stringContaining("One relay is paused") }],
  });
  const [relay] = await listRelays(deps);
  expect(relay).toMatchObject({
    isPaused: true,
    lastFault: expect.stringContaining("535"),
    host: `127.0.0.1:${peer.port}`,
  });
  const dump = await world.hot`select to_jsonb(r)::text as row from relays r`;
  expect(JSON.stringify([relay, dump])).not.toContain("secret-word");
});

test("a relay with a new password is resumed, and waiting email is sent", async () => {
  const peer = await peerWith({
    ehlo: EHLO_AUTH,
    auth: ({ line }) =>
      line.includes(Buffer.from("\0user\0right").toString("base64")) ? "235 welcome" : "535 5.7.8 no",
  });
  const relay = await relayTo(world.deps, peer, { login: "user:wrong@" });
  const { id } = await world.send();
  const deps = worker();
  await round(deps);
  await updateRelay(deps, relay, { url: `smtp://user:right@127.0.0.1:${peer.port}` });
  await world.elapse("20 minutes");
  await round(deps);
  expect((await world.email(id)).status).toBe("sent");
});

test("a worker resumes a relay as soon as another worker's probe succeeds", async () => {
  let hasSuccess = false;
  const peer = await peerWith({
    ehlo: EHLO_AUTH,
    auth: () => (hasSuccess ? "235 2.7.0 welcome" : "535 5.7.8 bad credentials"),
  });
  await relayTo(world.deps, peer, { login: "user:pass@" });
  const first = createEngine(worker(), { dialoguesMax: 5 });
  const work = async () => {
    await first.pump();
    await first.idle(20_000);
  };
  await world.send();
  await work();
  hasSuccess = true;
  await world.elapse("20 minutes");
  expect(await probePausedRelays(worker())).toBe(1);
  await work();
  await first.drain(20_000);
  expect(peer.messages).toHaveLength(1);
});

test("a relay whose password cannot be decrypted is paused with that reason and sends nothing", async () => {
  const peer = await peerWith();
  await relayTo(world.deps, peer);
  const { id } = await world.send();
  const vault = createVault(createKeyring(["another secret altogether, by mistake"]));
  await round({ ...worker(), vault });
  expect(peer.connections()).toBe(0);
  const { deliveries } = await world.email(id);
  expect(deliveries[0]).toMatchObject({
    waitRule: "relay_paused",
    lastReason: expect.stringContaining("BACKSTAMP_SECRET"),
  });
});
