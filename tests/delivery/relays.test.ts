import { expect, test, vi } from "vitest";
import { sweep } from "#server/delivery/housekeeping/sweep";
import type { WorkerDeps } from "#server/deps";
import { findDomain } from "#server/services/domains/read";
import { createDomain } from "#server/services/domains/write";
import { removeRelay } from "#server/services/relays/write";
import { queueMany } from "../support/database/queue-many";
import { addSignedDomain } from "../support/dkim-verifier";
import { closeAfterTest, forEachTest } from "../support/fixtures";
import { deliverDue } from "../support/pump-engine";
import { relayTo, transportTo } from "../support/relays";
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

const peerWith = async (script: SmtpScript = {}): Promise<SmtpTestServer> =>
  closeAfterTest(await startSmtpTestServer(script));

const round = (deps: WorkerDeps = world.withTransport(null)) => deliverDue(deps);
const typesOf = (email: { events: { type: string }[] }) => email.events.map(({ type }) => type);
const counts = (...of: SmtpTestServer[]) => of.map(({ messages }) => messages.length);

test("routing uses the relays of the domain, then of the team, then of the installation, then SMTP_URL", async () => {
  const [ofDomain, ofTeam, ofAll, set] = [
    await peerWith(),
    await peerWith(),
    await peerWith(),
    await peerWith(),
  ];
  const { deps, ctx } = world;
  const transport = transportTo(set);
  const { id: domainId } = await findDomain(ctx, "example.org");
  await world.domain("other.example");
  const relays = [
    await relayTo(deps, ofAll),
    await relayTo(deps, ofTeam, { teamId: ctx.teamId }),
    await relayTo(deps, ofDomain, { teamId: ctx.teamId, domainId }),
  ];
  const sendAndCount = async (sender: string) => {
    await world.send({ sender });
    await round(world.withTransport(transport));
    return counts(ofDomain, ofTeam, ofAll, set);
  };
  expect(await sendAndCount("ann@example.org")).toEqual([1, 0, 0, 0]);
  expect(await sendAndCount("ann@other.example")).toEqual([1, 1, 0, 0]);
  const [forAllTeams, teams, domains] = relays;
  if (domains) await removeRelay(deps, domains);
  expect(await sendAndCount("ann@example.org")).toEqual([1, 2, 0, 0]);
  if (teams) await removeRelay(deps, teams);
  expect(await sendAndCount("ann@example.org")).toEqual([1, 2, 1, 0]);
  if (forAllTeams) await removeRelay(deps, forAllTeams);
  expect(await sendAndCount("ann@example.org")).toEqual([1, 2, 1, 1]);
  await transport.close();
});

test("a team's relays send only its own email", async () => {
  const [theirs, other] = [await peerWith(), await world.otherTeam()];
  await other.domain("other.example");
  await relayTo(world.deps, theirs, { teamId: other.id });
  const { id } = await world.send();
  await world.send({ sender: "olga@other.example" }, other.ctx);
  await round();
  expect(theirs.messages.map(({ bytes }) => /^From: .*/m.exec(bytes.toString())?.[0])).toEqual([
    "From: olga@other.example",
  ]);
  expect((await world.email(id)).deliveries[0]).toMatchObject({ status: "queued", attempts: 0 });
});

test("other relays are no failover for those of a team", async () => {
  const [own, forAllTeams] = [await peerWith({ rcpt: "451 4.3.0 later" }), await peerWith()];
  await relayTo(world.deps, forAllTeams);
  await relayTo(world.deps, own, { teamId: world.ctx.teamId });
  const { id } = await world.send();
  await round();
  expect(counts(own, forAllTeams)).toEqual([0, 0]);
  expect((await world.email(id)).deliveries[0]).toMatchObject({ status: "queued", lastCode: 451 });
});

const rejectedBeforeAcceptance: [string, SmtpScript, { login?: string; query?: string }][] = [
  ["drops the connection at once", { greeting: DROP }, {}],
  ["rejects the login", { ehlo: EHLO_AUTH, auth: "535 5.7.8 bad credentials" }, { login: "user:wrong@" }],
  ["offers no TLS although it is required", { starttls: "502 5.5.1 what?" }, { query: "?tls=insecure" }],
  ["replies 451 to RCPT", { rcpt: "451 4.3.0 later" }, {}],
  ["replies 452 to the final dot", { message: "452 4.3.1 no room" }, {}],
];

test.each(rejectedBeforeAcceptance)(
  "the next relay is tried if the previous one %s",
  async (_what, script, more) => {
    const [first, second] = [await peerWith(script), await peerWith()];
    await relayTo(world.deps, first, more);
    const { id: relayId } = await relayTo(world.deps, second);
    const { id } = await world.send();
    await round();
    expect(first.connections()).toBe(1);
    const email = await world.email(id);
    expect(email.deliveries[0]).toMatchObject({
      status: "sent",
      attempts: 1,
      relayId,
      relay: `relay ${second.port}`,
    });
    expect(typesOf(email)).toEqual(["email.queued", "email.sent"]);
    expect(second.messages).toHaveLength(1);
  },
);

test.each<[string, Act, string]>([
  ["the final dot had no reply", DROP, "unknown"],
  ["it permanently rejected the message", "554 5.7.1 not wanted", "bounced"],
])("no other relay is tried if %s", async (_what, act, status) => {
  await world.hot`update teams set unknown_policy = 'hold'`;
  const [first, second] = [await peerWith({ message: act }), await peerWith()];
  const { id: relayId } = await relayTo(world.deps, first);
  await relayTo(world.deps, second);
  const { id } = await world.send();
  await round();
  expect(second.connections()).toBe(0);
  expect((await world.email(id)).deliveries[0]).toMatchObject({ status, relayId });
});

test("only the recipients that the previous relay deferred are offered to the next one", async () => {
  const byName: SmtpScript = {
    rcpt: ({ address }) =>
      address.startsWith("gone")
        ? "550 5.1.1 no such user"
        : address.startsWith("busy")
          ? "450 4.2.1 busy"
          : "250 ok",
  };
  const [first, second] = [await peerWith(byName), await peerWith()];
  const relays = [await relayTo(world.deps, first), await relayTo(world.deps, second)];
  const { id } = await world.send({ to: ["ok@example.net", "gone@example.net", "busy@example.net"] });
  await round();
  expect(first.messages[0]?.to).toEqual(["ok@example.net"]);
  expect(second.messages[0]?.to).toEqual(["busy@example.net"]);
  expect((await world.email(id)).deliveries.map(({ status, relayId }) => [status, relayId])).toEqual([
    ["sent", relays[0]?.id],
    ["bounced", relays[0]?.id],
    ["sent", relays[1]?.id],
  ]);
});

test("a relay's reply about a recipient outweighs a fault of the next relay, so attempts are counted", async () => {
  const [first, second] = [await peerWith({ rcpt: "450 4.2.1 busy" }), await peerWith({ greeting: DROP })];
  await relayTo(world.deps, first);
  await relayTo(world.deps, second);
  const { id } = await world.send();
  await round();
  expect((await world.email(id)).deliveries[0]).toMatchObject({
    status: "queued",
    waitRule: "retry_schedule",
    attempts: 1,
    lastCode: 450,
  });
});

test("relays are tried in order of position, not of creation", async () => {
  const [second, first] = [await peerWith(), await peerWith()];
  await relayTo(world.deps, second, { position: 7 });
  await relayTo(world.deps, first, { position: 2 });
  await world.send();
  await round();
  expect(counts(first, second)).toEqual([1, 0]);
});

test("DKIM signing is configurable per relay, and the bytes below the signatures are the same in every attempt", async () => {
  await addSignedDomain(world, "signed.example");
  const [signing, bare] = [
    await peerWith({ message: ["451 4.3.0 later", "451 4.3.0 later", "250 ok"] }),
    await peerWith({ message: "451 4.3.0 later" }),
  ];
  await relayTo(world.deps, signing);
  await relayTo(world.deps, bare, { dkim: false });
  await world.send({ sender: "Ann <ann@signed.example>", html: "<p>x</p>\n.\n..\n" });
  for (let attempt = 1; attempt <= 3; attempt++) {
    await round();
    await world.elapse("1 hour");
  }
  const signedCopies = signing.messages.map(({ bytes }) => bytes.toString("latin1"));
  const unsignedCopies = bare.messages.map(({ bytes }) => bytes.toString("latin1"));
  expect([signedCopies.length, unsignedCopies.length]).toEqual([3, 2]);
  expect([new Set(signedCopies).size, new Set(unsignedCopies).size]).toEqual([1, 1]);
  expect(unsignedCopies[0]).not.toMatch(/^DKIM-Signature:/im);
  const signatures = signedCopies[0]?.slice(0, -(unsignedCopies[0]?.length ?? 0)) ?? "";
  expect(signedCopies[0]?.endsWith(unsignedCopies[0] ?? "none")).toBe(true);
  expect(signatures).toMatch(/^(DKIM-Signature:[^\r]*\r\n(?:[ \t][^\r]*\r\n)*)+$/);
});

test("with the capture transport no relay is connected to", async () => {
  const peer = await peerWith();
  await relayTo(world.deps, peer);
  const { id } = await world.send();
  await round(world.withTransport());
  expect(peer.connections()).toBe(0);
  expect((await world.email(id)).status).toBe("delivered");
});

test("email that waits for a route is sent after a relay is added for it, and other email is not", async () => {
  const { id } = await world.send();
  await round();
  expect((await world.email(id)).deliveries[0]?.waitRule).toBe("no_transport");
  const peer = await peerWith();
  await createDomain(world.ctx, { name: "other.example" });
  const { id: domainId } = await findDomain(world.ctx, "other.example");
  await relayTo(world.deps, peer, { name: "other", teamId: world.ctx.teamId, domainId });
  await round();
  expect((await world.email(id)).deliveries[0]?.waitRule).toBe("no_transport");
  await relayTo(world.deps, peer, { teamId: world.ctx.teamId });
  await round();
  expect((await world.email(id)).status).toBe("sent");
});

test("all email that waits for a route is due at once after a relay is added, and none before", async () => {
  const { id } = await world.send();
  await round();
  // More deliveries than one statement makes due.
  await world.hot`
    insert into deliveries (id, team_id, email_id, position, kind, address, domain, status, due_at, wait_rule)
    select gen_random_uuid(), d.team_id, d.email_id, n, d.kind, n || d.address, d.domain, d.status, d.due_at, d.wait_rule
    from deliveries d, generate_series(1, 25) n where d.email_id = ${id}`;
  const countParked = async () => {
    const [row] = await world.hot<{ n: number }[]>`
      select count(*)::int as n from deliveries where wait_rule = 'no_transport' and due_at = 'infinity'`;
    return row?.n;
  };
  const sweepInBatches = () => sweep(world.withTransport(null), { releasedPerBatch: 10 });
  expect(await sweepInBatches()).toBe(0);
  expect(await countParked()).toBe(26);
  await relayTo(world.deps, await peerWith());
  expect(await sweepInBatches()).toBe(26);
  expect(await countParked()).toBe(0);
});

test("many emails without a route return to the queue together, without a counted attempt", async () => {
  await queueMany(world.hot, { teamId: world.id, domain: "example.org", count: 60 });
  const statements = vi.spyOn(world.hot, "begin");
  await round();
  const transactions = statements.mock.calls.length;
  statements.mockRestore();
  const rows = await world.hot`
    select status, wait_rule, attempts, count(*)::int as n from deliveries group by 1, 2, 3`;
  expect(rows).toEqual([{ status: "queued", wait_rule: "no_transport", attempts: 0, n: 60 }]);
  expect(transactions).toBeLessThan(20);
});

test("a domain that requires verified TLS uses only relays with a valid certificate, and pauses no other", async () => {
  const open = await peerWith();
  await world.hot`update domains set tls = 'verified' where name = 'example.org'`;
  await relayTo(world.deps, open);
  const { id } = await world.send();
  await round();
  const { deliveries, events } = await world.email(id);
  expect(deliveries).toMatchObject([
    { status: "queued", waitRule: "retry_schedule", lastReason: expect.stringContaining("verified TLS") },
  ]);
  expect(events.at(-1)?.data).toMatchObject({ class: "tls" });
  expect(open.connections()).toBe(0);
  await world.hot`update domains set tls = 'enforced' where name = 'example.org'`;
  await world.send();
  await round();
  expect(counts(open)).toEqual([1]);
});
