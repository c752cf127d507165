import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { tick } from "#server/delivery/tick";
import type { WorkerDeps } from "#server/deps";
import type { Log } from "#server/platform/log";
import { getReadiness } from "#server/services/health";
import { getInstallationFigures } from "#server/services/overview/installation-figures";
import { listPausedSmtpUrlRelays } from "#server/services/relays/read";
import { forEachTest } from "../support/fixtures";
import { deliverDue } from "../support/pump-engine";
import { transportTo } from "../support/relays";
import {
  DROP,
  EHLO_AUTH,
  PASS,
  type SmtpScript,
  type SmtpTestServer,
  startSmtpTestServer,
} from "../support/servers/smtp-test-server";
import { createWorld } from "../support/world";

const world = forEachTest(() => createWorld({ transportKind: "relay" }));
let peer: SmtpTestServer | undefined;
const logged: string[] = [];

beforeEach(async () => {
  logged.splice(0);
});
afterEach(async () => {
  await peer?.close();
  peer = undefined;
});

const record = (event: string) => void logged.push(event);
const log: Log = { info: record, warn: record, error: record };

/** A separate worker that sends by `SMTP_URL`. */
function worker(port: number, login = ""): WorkerDeps {
  return { ...world.withTransport(transportTo({ port }, login)), log };
}

const round = (deps: WorkerDeps) => deliverDue(deps);
const scheduledRound = (deps: WorkerDeps) => tick(deps, { budgetMs: 60_000 });
const serve = async (script: SmtpScript) => {
  peer = await startSmtpTestServer(script);
  return peer;
};
/** One after another: many at once would wait for a connection longer than the product allows. */
async function sendMany(count: number) {
  const sent = [];
  for (let n = 0; n < count; n++) sent.push(await world.send());
  return sent;
}
const waiting = () => world.hot<{ status: string; rule: string | null; attempts: number; n: number }[]>`
  select status, wait_rule as rule, attempts, count(*)::int as n from deliveries group by 1, 2, 3 order by attempts`;

test("while the server of SMTP_URL is down, email waits through any outage with few log lines, and all of it goes out later", async () => {
  let isDown = true;
  const { port, messages } = await serve({ greeting: () => (isDown ? DROP : PASS) });
  const workers = [worker(port), worker(port)] as const;
  await sendMany(10);
  const minutes = 6;
  for (let minute = 0; minute < minutes; minute++) {
    await Promise.all(workers.map(round));
    // Far more than the retry table allows in 13 attempts.
    await world.elapse(minute % 2 === 0 ? "1 day" : "61 seconds");
  }
  const rows = await waiting();
  expect(rows.map(({ status, rule }) => ({ status, rule }))).toEqual(
    rows.map(() => ({ status: "queued", rule: "relay_paused" })),
  );
  expect(Math.max(...rows.map(({ attempts }) => attempts))).toBeLessThanOrEqual(1);
  expect(rows.reduce((sum, { n }) => sum + n, 0)).toBe(10);
  expect(logged.filter((event) => event === "relay.paused")).toHaveLength(1);
  expect(logged.filter((event) => event === "relay.still_paused").length).toBeLessThanOrEqual(minutes);
  expect(logged).not.toContain("transport.alarm");
  expect(logged.length).toBeLessThan(minutes + 10);
  await scheduledRound(workers[0]);
  expect(await getReadiness(workers[0])).toMatchObject({
    isReady: true,
    alarms: [{ alarm: "relays_paused", count: 1 }],
  });

  isDown = false;
  await vi.waitFor(
    async () => {
      await world.elapse("11 minutes");
      await Promise.all(workers.map(round));
      expect(new Set((await waiting()).map(({ status }) => status))).toEqual(new Set(["sent"]));
    },
    { timeout: 30_000, interval: 10 },
  );
  expect(messages).toHaveLength(10);
  expect(logged.filter((event) => event === "relay.resumed")).toHaveLength(1);
  await scheduledRound(workers[1]);
  expect(await getReadiness(workers[1])).toMatchObject({ isReady: true, alarms: [] });
});

test("between the rounds of a daily scheduler, a paused SMTP_URL is reported, and no more once no round uses it", async () => {
  const { port } = await serve({ ehlo: EHLO_AUTH, auth: "535 5.7.8 bad credentials" });
  const deps = worker(port, "user:wrong@");
  const alarms = async () => {
    const readiness = await getReadiness(deps);
    return readiness.isReady ? readiness.alarms.map(({ alarm }) => alarm) : [];
  };
  const paused = async () => (await getInstallationFigures(deps)).relays.paused;
  await world.send();
  for (let days = 0; days < 2; days++) {
    await scheduledRound(deps);
    await world.elapse("23 hours");
    expect(await alarms()).toContain("relays_paused");
    expect(await paused()).toBe(1);
    expect(await listPausedSmtpUrlRelays(deps)).toHaveLength(1);
  }
  const other = await startSmtpTestServer();
  await scheduledRound(worker(other.port));
  await other.close();
  expect(await alarms()).not.toContain("relays_paused");
  expect(await paused()).toBe(0);
});

test("a login that the server of SMTP_URL rejects is tried once a minute by all workers together", async () => {
  const { port, commands } = await serve({ ehlo: EHLO_AUTH, auth: "535 5.7.8 bad credentials" });
  const logins = () => commands.filter((line) => line.startsWith("AUTH")).length;
  const workers = [worker(port, "user:wrong@"), worker(port, "user:wrong@"), worker(port, "user:wrong@")];
  await sendMany(20);
  const [first, ...others] = workers;
  if (first) await round(first);
  await Promise.all(others.map(round));
  expect(logins()).toBe(1);
  for (let minute = 1; minute <= 3; minute++) {
    await world.elapse("61 seconds");
    await Promise.all(workers.map(round));
    expect(logins()).toBe(1 + minute);
  }
  expect(commands.some((line) => line.startsWith("MAIL"))).toBe(false);
  const rows = await waiting();
  expect(new Set(rows.map(({ status, rule }) => `${status} ${rule}`))).toEqual(
    new Set(["queued relay_paused"]),
  );
  const dump = await world.hot`select to_jsonb(r)::text as row from smtp_url_relays r`;
  expect(dump).toHaveLength(1);
  expect(JSON.stringify(dump)).not.toMatch(/user:|wrong|"user"/);
});
