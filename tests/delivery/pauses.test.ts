import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { sweep } from "#server/delivery/housekeeping/sweep";
import { claimDeliveries, claimSuspects } from "#server/delivery/queue/claims";
import { newId } from "#server/platform/ids";
import { pauseQueue, pauseTeam, resumeQueue } from "#server/services/pauses/pause";
import type { QueueScope } from "#server/services/pauses/scope";
import { type CountingTransport, createCountingTransport } from "../support/counting-transport";
import { queueMany } from "../support/database/queue-many";
import { forEachTest } from "../support/fixtures";
import { startOwnEngine } from "../support/pump-engine";
import { createWorld, type TestTeam } from "../support/world";

const eventually = { timeout: 60_000, interval: 20 };

const world = forEachTest(() => createWorld({ transportKind: "relay" }));
let other: TestTeam;
let out: CountingTransport;
let stops: (() => Promise<void>)[];
beforeEach(async () => {
  other = await world.otherTeam();
  await other.domain("other.example");
  await world.domain("second.example");
  out = createCountingTransport("relay");
  stops = [];
});
afterEach(async () => {
  for (const stop of stops.reverse()) await stop();
});

/** Starts an engine that runs until the end of the test. */
const startEngine = () => void stops.push(startOwnEngine(world, out));

const ofTeam = (): QueueScope => ({ teamId: world.id, domain: null });
const ofDomain = (): QueueScope => ({ teamId: world.id, domain: "example.org" });
const ofAll: QueueScope = { teamId: null, domain: null };
const pause = (scope: QueueScope, reason = "The relay is being replaced") =>
  pauseQueue(world.ctx, { ...scope, reason });
const resume = (scope: QueueScope) => resumeQueue(world.ctx, scope);
const queue = (count: number, domain = "example.org", teamId = world.id) =>
  queueMany(world.hot, { teamId, domain, count, to: `to-${domain}` });
const countOf = async (condition: string): Promise<number> => {
  const [row] = await world.hot.unsafe<{ n: number }[]>(
    `select count(*)::int as n from deliveries where ${condition}`,
  );
  return row?.n ?? 0;
};
const recipientOf = async (id: string) => {
  const { token } = await world.key();
  const { body } = await world.api("GET", `/api/emails/${id}`, { token });
  return (body as { recipients: Record<string, unknown>[] }).recipients[0];
};

describe.each([
  ["the installation", "installation_paused", () => ofAll],
  ["its domain", "domain_paused", ofDomain],
] as const)("while %s is paused", (_, rule, scopeOf) => {
  test("email is accepted, waits with the reason, and is sent after the end of the pause", async () => {
    const before = await world.send();
    await pause(scopeOf(), "The relay is being replaced");
    startEngine();
    const { id } = await world.send();
    const scripted = await world.send({ to: ["delivered@backstamp.test"] });
    await world.send({ sender: "ann@second.example" });
    await world.send({ sender: "ann@other.example", to: ["cid@example.net"] }, other.ctx);
    // What is sent meanwhile shows that the engine works. While the installation is paused, it claims
    // nothing.
    const sent = { installation_paused: 0, domain_paused: 2 }[rule];
    await vi.waitFor(async () => expect(await countOf("status = 'sent'")).toBe(sent), eventually);
    if (sent === 0) expect(await claimDeliveries(world.hot, { limit: 100, leaseToken: newId() })).toEqual([]);
    for (const email of [before.id, id, scripted.id])
      await vi.waitFor(
        async () =>
          expect(await recipientOf(email)).toMatchObject({
            status: "queued",
            attempts: 0,
            rule,
            rule_text: expect.stringMatching(/paused .* Reason: The relay is being replaced$/),
            next_attempt_at: null,
          }),
        eventually,
      );

    await resume(scopeOf());
    await vi.waitFor(
      async () => expect(await countOf("status in ('sent', 'delivered')")).toBe(5),
      eventually,
    );
    expect(out.handedOver).toHaveLength(4);
    expect(await recipientOf(id)).toMatchObject({ status: "sent", attempts: 1, rule: null });
  });
});

test("a delivery that waits for its retry shows the pause, and later its own schedule again", async () => {
  const { id } = await world.send();
  await world.hot`
    update deliveries set attempts = 2, wait_rule = 'retry_schedule', due_at = now() + interval '4 hours'`;
  await pause(ofTeam(), "Many complaints");
  expect(await recipientOf(id)).toMatchObject({
    status: "deferred",
    rule: "team_paused",
    next_attempt_at: null,
  });
  await resume(ofTeam());
  expect(await recipientOf(id)).toMatchObject({
    status: "deferred",
    rule: "retry_schedule",
    next_attempt_at: expect.any(String),
  });
});

test("scheduled email keeps its schedule, and waits for the pause only after its time", async () => {
  const at = new Date(world.clock.now().getTime() + 3_600_000);
  const { id } = await world.send({ scheduledAt: at.toISOString() });
  await pause(ofTeam());
  expect(await recipientOf(id)).toMatchObject({
    status: "scheduled",
    rule: null,
    next_attempt_at: at.toISOString(),
  });
  await world.elapse("2 hours");
  startEngine();
  const due = await world.send({ sender: "ann@other.example" }, other.ctx);
  await vi.waitFor(() => expect(out.handedOver).toHaveLength(1), eventually);
  expect(due.id).toBeDefined();
  expect(await recipientOf(id)).toMatchObject({ attempts: 0, rule: "team_paused" });
  await resume(ofTeam());
  await vi.waitFor(() => expect(out.handedOver).toHaveLength(2), eventually);
});

test("the queue of a paused team is not claimed, and blocks no other team", async () => {
  await queue(200);
  await pause(ofTeam());
  await queue(1, "other.example", other.id);
  const claims = await claimDeliveries(world.hot, { limit: 100, leaseToken: newId() });
  expect(claims.map(({ teamId }) => teamId)).toEqual([other.id]);
  await world.hot`update deliveries set lapses = 3 where team_id = ${world.id}`;
  expect(await claimSuspects(world.hot, { limit: 100, leaseToken: newId() })).toEqual([]);
});

test("a suspect of a paused domain is postponed, and sent after the resume", async () => {
  await queue(3);
  await queue(2, "second.example");
  await world.hot`update deliveries set lapses = 3`;
  await pause({ teamId: world.id, domain: "second.example" });
  await pause(ofDomain());
  startEngine();
  await vi.waitFor(
    async () => expect(await countOf("due_at = 'infinity' and lapses = 3")).toBe(5),
    eventually,
  );
  await resume(ofDomain());
  await vi.waitFor(async () => expect(await countOf("status = 'sent'")).toBe(3), eventually);
  expect(await countOf("due_at = 'infinity' and wait_rule = 'domain_paused'")).toBe(2);
});

test("a resume that was interrupted is completed by the workers", async () => {
  await queue(10);
  await pause(ofDomain());
  await world.hot`update deliveries set due_at = 'infinity', wait_rule = 'domain_paused'`;
  await world.hot`update queue_pauses set lifted_at = now()`;
  await sweep(world.withTransport(out.transport));
  expect(await countOf("due_at <= now() and wait_rule is null")).toBe(10);
  expect(await countOf("due_at = 'infinity'")).toBe(0);
});

test("pausing a scope twice is rejected, and an alert leaves the operator's pause as it is", async () => {
  await pause(ofTeam(), "By the operator");
  await expect(pause(ofTeam(), "Again")).rejects.toMatchObject({ code: "conflict" });
  const by = { kind: "system" } as const;
  expect(await pauseTeam(world.deps, { teamId: world.id, reason: "Bounce rate 12 %", by })).toBe(false);
  expect(await pauseTeam(world.deps, { teamId: other.id, reason: "Bounce rate 12 %", by })).toBe(true);
  await expect(resume(ofDomain())).rejects.toMatchObject({ code: "not_found" });
  await expect(pause({ teamId: world.id, domain: "unknown.example" })).rejects.toMatchObject({
    code: "not_found",
  });
  await expect(pause(ofDomain(), " \n ")).rejects.toMatchObject({ code: "invalid" });
  const rows = await world.hot`
    select reason, actor from queue_pauses where lifted_at is null order by created_at`;
  expect(rows).toEqual([
    { reason: "By the operator", actor: "operator" },
    { reason: "Bounce rate 12 %", actor: "alert" },
  ]);
  const audit = await world.hot`
    select actor, action, detail->>'reason' as reason from audit_log where action like 'queue.%' order by id`;
  expect(audit).toEqual([
    { actor: "operator", action: "queue.paused", reason: "By the operator" },
    { actor: "system", action: "queue.paused", reason: "Bounce rate 12 %" },
  ]);
});
