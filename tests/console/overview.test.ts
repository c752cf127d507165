import { expect, test } from "vitest";
import { tick } from "#server/delivery/tick";
import type { Deps } from "#server/deps";
import { createRelay } from "#server/mail/transport/relay";
import { parseSmtpUrl } from "#server/mail/transport/smtp-url";
import { addDomain } from "#server/services/domains/write";
import { createKey } from "#server/services/keys/keys";
import { getParts, getSetup } from "#server/services/overview/health";
import { getTraffic } from "#server/services/overview/traffic";
import { createWebhook } from "#server/services/webhooks/endpoints";
import { describeIdleQueue } from "#server/shared/email-words";
import { openConsole } from "../support/console/console";
import { createRoleTeam, type RoleTeam } from "../support/console/role-teams";
import { type SmtpScript, startSmtpTestServer } from "../support/servers/smtp-test-server";

let ann: RoleTeam;
const console = await openConsole();

const callerOf = async ({ userIds }: RoleTeam) => await console.callerAs(userIds.viewer);
const deliver = () => console.deliver();
const send = (to: string[], party = ann, scheduledAt: string | null = null) =>
  console.world.send({ sender: "ann@backstamp.test", to, scheduledAt }, party.ctx);

test("a custom range is compared with the days before it, and filters by domain, key and tag", async () => {
  ann = await createRoleTeam(console, "Filtered");
  const caller = await callerOf(ann);
  const accept = async (time: string, kind: string) => {
    const tags = [{ name: "kind", value: kind }];
    const { id } = await console.world.send(
      { sender: "ann@backstamp.test", to: ["delivered@backstamp.test"], tags },
      ann.ctx,
    );
    await console.world.hot`update emails set created_at = ${time} where id = ${id}`;
  };
  await accept("2026-02-27T23:59:00Z", "a");
  await accept("2026-02-28T00:00:00Z", "a");
  await accept("2026-03-01T23:59:00Z", "b");
  await accept("2026-03-02T00:00:00Z", "b");
  const read = (more: object = {}) =>
    caller.overview.traffic({
      team: ann.teamId,
      range: "days",
      since: "2026-02-28",
      until: "2026-03-01",
      ...more,
    });
  const received = async (more: object = {}) => {
    const { total, previous } = await read(more);
    return [total.received, previous.received];
  };
  await expect.poll(received, { timeout: 30_000 }).toEqual([2, 1]);
  expect(await read()).toMatchObject({
    unit: "day",
    partialAt: null,
    spans: [
      { at: "2026-02-28T00:00:00.000Z", inProgress: 1 },
      { at: "2026-03-01T00:00:00.000Z", inProgress: 1 },
    ],
    byProvider: { rows: [{ name: "other", received: 2 }], hidden: 0 },
    byDomain: { rows: [{ name: "backstamp.test", received: 2 }] },
  });
  expect(await received({ tag: "kind:a" })).toEqual([1, 1]);
  expect(await received({ domain: "backstamp.test" })).toEqual([2, 1]);
  expect(await received({ domain: "example.org" })).toEqual([0, 0]);
  expect(await received({ key: "00000000-0000-7000-8000-000000000000" })).toEqual([0, 0]);
  await expect(read({ until: "2026-02-27" })).rejects.toThrow(/first day is after the last/);
  await expect(read({ since: "2020-01-01" })).rejects.toThrow(/at most 366/);
});

test("an hour that has not ended is compared with the same part of its hour in the time before", async () => {
  ann = await createRoleTeam(console, "Compared");
  const accepted = ["2026-03-07T10:30:00Z", "2026-03-08T10:30:00Z", "2026-03-08T14:10:00Z"];
  // Four emails in an hour, of which a quarter has passed a day later.
  accepted.push(...[10, 25, 40, 55].map((minute) => `2026-03-07T14:${minute}:00Z`));
  for (const time of accepted) {
    const { id } = await send(["delivered@backstamp.test"]);
    await console.world.hot`update emails set created_at = ${time} where id = ${id}`;
  }
  const at = (clock: string) => ({ ...ann.ctx, clock: () => new Date(clock) });
  const day = { since: "2026-03-08", until: "2026-03-08" };
  const received = async (clock: string) => {
    const { total, previous } = await getTraffic(at(clock), day, {});
    return [total.received, previous.received];
  };
  await expect.poll(() => received("2026-03-08T14:15:00Z"), { timeout: 30_000 }).toEqual([2, 2]);
  expect(await received("2026-03-08T14:00:00Z")).toEqual([1, 1]);
  expect(await received("2026-03-08T15:00:00Z")).toEqual([2, 5]);
  expect(await received("2026-03-09T09:20:00Z")).toEqual([2, 5]);
});

test("measures the delivery time of the latest deliveries, from the time each was due", async () => {
  ann = await createRoleTeam(console, "Timed");
  const caller = await callerOf(ann);
  const traffic = () => caller.overview.traffic({ team: ann.teamId, range: "7d" });
  expect((await traffic()).latency).toBeNull();
  for (let n = 0; n < 4; n++) await send(["delivered@backstamp.test"]);
  await deliver();
  await console.world.hot`
    with placed as (
      select id, row_number() over (order by id) as n from emails where team_id = ${ann.teamId}
    ), moved as (
      update emails e set created_at = now() - interval '1 hour' from placed p where e.id = p.id
    )
    update email_events e set created_at = now() - interval '1 hour' + p.n * interval '10 s'
    from placed p where e.team_id = ${ann.teamId} and e.email_id = p.id and e.type = 'email.delivered'`;
  const { latency } = await traffic();
  expect(latency?.deliveries).toBe(4);
  expect(latency?.p50Ms).toBeCloseTo(25_000, -2);
  expect(latency?.p95Ms).toBeCloseTo(38_500, -2);
});

test("counts deliveries in progress by status, with the age of the oldest and the latest failures", async () => {
  ann = await createRoleTeam(console, "Standing");
  const caller = await callerOf(ann);
  const standing = () => caller.overview.standing({ team: ann.teamId });
  expect(await standing()).toMatchObject({
    queue: { counts: { queued: 0, deferred: 0, scheduled: 0 }, oldestAt: null },
    failures: [],
  });
  const { id: bounced } = await send(["delivered@backstamp.test", "bounced@backstamp.test"]);
  await send(["deferred@backstamp.test"]);
  await deliver();
  const { queue: idle } = await standing();
  expect(idle).toMatchObject({ counts: { queued: 0, sending: 0, deferred: 1 }, oldestAt: null });
  expect(describeIdleQueue(idle.counts, idle.isComplete)).toBe("No email is queued or sending; 1 deferred.");
  await send(["delivered@backstamp.test"], ann, "in 2 hours");
  const { id: waiting } = await send(["delivered@backstamp.test"]);
  const { queue, failures } = await standing();
  expect(queue.counts).toMatchObject({ queued: 1, deferred: 1, scheduled: 1, unknown: 0, sending: 0 });
  const [row] = await console.world.hot`select created_at as "at" from emails where id = ${waiting}`;
  expect(Math.abs(Date.parse(queue.oldestAt ?? "") - row?.at.getTime())).toBeLessThan(60_000);
  expect(failures).toEqual([
    expect.objectContaining({
      id: bounced,
      status: "bounced",
      recipient: "bounced@backstamp.test",
      reason: expect.stringMatching(/\S/),
    }),
  ]);
});

test("the setup checklist shrinks, and is complete with the first real email", async () => {
  ann = await createRoleTeam(console, "New");
  const { hot } = console.world;
  const caller = await callerOf(ann);
  const setup = async () => (await caller.overview.parts({ team: ann.teamId })).setup;
  expect(await setup()).toMatchObject({
    hasTransport: true,
    isCapturing: true,
    verifiedDomain: null,
    hasKey: false,
    hasSent: false,
  });
  const transportOf = async (transportKind: Deps["transportKind"]) => {
    const { isCapturing, hasTransport } = await getSetup({ ...ann.ctx, transportKind });
    return isCapturing ? "captured" : hasTransport;
  };
  expect(await Promise.all((["relay", "direct", "none", "capture"] as const).map(transportOf))).toEqual([
    ...[true, true, false, "captured"],
  ]);
  await createKey(ann.ctx, { name: "Shop", scopes: ["emails:send"], domains: "all" });
  await hot`insert into domains (id, team_id, name, status) values (gen_random_uuid(), ${ann.teamId}, 'new.example', 'verified')`;
  expect(await setup()).toMatchObject({ verifiedDomain: "new.example", hasKey: true, hasSent: false });
  await send(["delivered@backstamp.test"]);
  await deliver();
  await caller.overview.traffic({ team: ann.teamId, range: "today" });
  expect(await setup()).toMatchObject({ hasSent: false });
  await console.world.send({ sender: "ann@new.example", to: ["ben@example.net"] }, ann.ctx);
  await deliver();
  const afterTraffic = async () => {
    await caller.overview.traffic({ team: ann.teamId, range: "today" });
    return (await setup()).hasSent;
  };
  await expect.poll(afterTraffic, { timeout: 20_000 }).toBe(true);
});

test("a paused relay, a failing webhook and a stopped worker are shown to the teams they serve", async () => {
  ann = await createRoleTeam(console, "Watched");
  const ben = await createRoleTeam(console, "Watched too");
  const { hot } = console.world;
  await createWebhook(ann.ctx, {
    url: "https://example.com/hooks",
    events: ["email.delivered"],
    status: "enabled",
  });
  await hot`update webhooks set failing_since = now(), failures = 7 where team_id = ${ann.teamId}`;
  const relay = (id: string | null, name: string) => hot`
    insert into relays (id, team_id, name, url, host, paused_until, last_fault, last_fault_at)
    values (gen_random_uuid(), ${id}, ${name}, 'sealed', 'smtp.example.net:587', now() + interval '1 min', 'The login was refused.', now())`;
  await relay(null, "everybody's");
  await relay(ann.teamId, "own");
  await hot`insert into workers (id, host, pid, transport, beat_at) values (gen_random_uuid(), 'box', 1, 'relay', now() - interval '1 day')
            on conflict do nothing`;
  const parts = await (await callerOf(ann)).overview.parts({ team: ann.teamId });
  expect(parts.relays.map(({ name, isShared }) => [name, isShared])).toEqual([
    ["everybody's", true],
    ["own", false],
  ]);
  expect(parts.relays[0]).toMatchObject({
    pausedUntil: expect.any(String),
    lastFault: "The login was refused.",
  });
  expect(parts.webhooks).toMatchObject([{ failures: 7, failingSince: expect.any(String) }]);
  expect(parts.worker).toMatchObject({ seenAt: expect.any(String) });
  const theirs = await (await callerOf(ben)).overview.parts({ team: ben.teamId });
  expect(theirs.relays.map(({ name }) => name)).toEqual(["everybody's"]);
  expect(theirs.webhooks).toEqual([]);
  expect(JSON.stringify([parts, theirs])).not.toContain("sealed");
});

const FAULTS: [string, SmtpScript, RegExp][] = [
  [
    "refuses our login",
    { ehlo: "250-peer.test\r\n250 AUTH PLAIN", auth: "535 5.7.8 bad credentials" },
    /535/,
  ],
  ["is not there", {}, /Could not connect/],
];

test.each(FAULTS)(
  "an SMTP_URL that %s is reported with the waiting email, only to its team",
  async (what, script, fault) => {
    const { hot, deps } = console.world;
    ann = await createRoleTeam(console, what);
    const ben = await createRoleTeam(console, "Not waiting");
    await hot`delete from relays`;
    const { name } = await addDomain(ann.ctx, { name: `${ann.teamId}.example`, verified: true });
    const peer = await startSmtpTestServer(script);
    if (script.auth === undefined) await peer.close();
    const read = parseSmtpUrl(`smtp://ann:wrong@127.0.0.1:${peer.port}`);
    if (!read.ok) throw new Error(read.fault);
    const transport = createRelay(read.target, { loginPauseMs: 1 });
    const seenBy = async ({ ctx }: RoleTeam) => (await getParts({ ...ctx, transportKind: "relay" })).smtpUrl;
    expect(await seenBy(ann)).toBeNull();
    await console.world.send({ sender: `ann@${name}`, to: ["ben@example.net", "eve@example.net"] }, ann.ctx);
    await send(["deferred@backstamp.test"]);
    await tick({ ...deps, transport }, { budgetMs: 20_000 });
    await transport.close();
    await peer.close();
    expect(await seenBy(ann)).toEqual({
      waiting: 2,
      lastFault: expect.stringMatching(fault),
      lastFaultAt: expect.any(Date),
    });
    expect(await seenBy(ben)).toBeNull();
  },
);

test("a failing webhook is shown however many others exist", async () => {
  const { hot } = console.world;
  ann = await createRoleTeam(console, "Many webhooks");
  await hot`insert into webhooks (id, team_id, url, events, secret)
            select gen_random_uuid(), ${ann.teamId}, 'https://example.com/' || n, '{email.delivered}', 'sealed'
            from generate_series(1, 60) n`;
  await hot`update webhooks set failing_since = now(), failures = 3
            where id = (select id from webhooks where team_id = ${ann.teamId} order by id desc limit 1)`;
  const { webhooks } = await (await callerOf(ann)).overview.parts({ team: ann.teamId });
  expect(webhooks).toHaveLength(50);
  expect(webhooks.map(({ failures }) => failures).slice(0, 2)).toEqual([3, 0]);
});
