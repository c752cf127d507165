import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import connect from "postgres";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { migrateDatabase } from "#db/migrate";
import { silentLog } from "#server/platform/log";
import { createKey } from "#server/services/keys/keys";
import { createTeam } from "#server/services/teams";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "#server/startup/postgres/embedded";
import { killPostgres, type PostgresKill, retryWhileDown } from "../chaos/kill-postgres";
import { openDeps } from "../support/deps";
import { callApi, type Reply, type RestServer, startRest } from "../support/rest";

const eventually = { timeout: 30_000, interval: 50 };
const clients = 10;
/** Limit for the total Retry-After time until success, once the database accepts connections. */
const recoverySecondsMax = 5;
const DEATHS: PostgresKill[] = ["immediate", "all", "postmaster", "immediate"];

let folder: string;
/** With full durability: a lost transaction would look like a lost email. */
let postgres: EmbeddedPostgres;
let installation: ReturnType<typeof openDeps>;
let server: RestServer;
let token: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "backstamp-restart-"));
  postgres = await startEmbeddedPostgres({ dataDir: folder, log: silentLog });
  await migrateDatabase(postgres.url);
  installation = openDeps(postgres.url);
  server = await startRest(installation.deps);
  const team = await createTeam(installation.deps, { name: "First" });
  const operator = { kind: "operator" as const };
  const ctx = { ...installation.deps, teamId: team.id, actor: operator, requestId: "test" };
  const limits = { "POST /api/emails": 1_000_000 };
  ({ token } = await createKey(ctx, { name: "test", scopes: ["emails:send"], domains: "all", limits }));
});
afterAll(async () => {
  await server.close();
  await installation.close();
  await postgres.stop();
  await rm(folder, { recursive: true, force: true });
});

const post = (subject: string): Promise<Reply> =>
  callApi(server.baseUrl, "POST", "/api/emails", {
    token,
    body: { from: "ann@backstamp.test", to: "delivered@backstamp.test", subject, html: "<p>Hello</p>" },
  });

/** Resolves when the database accepts a new connection. */
const whenTaking = () =>
  retryWhileDown(installation.deps.hot, async () => {
    const newcomer = connect(postgres.url, { max: 1, onnotice: () => {} });
    try {
      await newcomer`select 1`;
    } finally {
      await newcomer.end({ timeout: 0 });
    }
  });

/** Posts until it succeeds, waiting for Retry-After each time; returns the total wait in seconds. */
async function postWithRetries(subject: string): Promise<{ reply: Reply; waitedSeconds: number }> {
  for (let waitedSeconds = 0; ; ) {
    const reply = await post(subject);
    if (reply.status !== 503 || waitedSeconds > recoverySecondsMax) return { reply, waitedSeconds };
    const seconds = Number(reply.headers["retry-after"]);
    waitedSeconds += seconds;
    await wait(seconds * 1_000);
  }
}

async function expectRecovery(): Promise<void> {
  await whenTaking();
  const served = await Promise.all(
    Array.from({ length: 3 * clients }, (_, n) => postWithRetries(`after ${n}`)),
  );
  expect(served.map(({ reply }) => reply.status)).toEqual(served.map(() => 200));
  expect(Math.max(...served.map(({ waitedSeconds }) => waitedSeconds))).toBeLessThanOrEqual(
    recoverySecondsMax,
  );
}

test("a database that crashes repeatedly under load causes 503s but never loses an email that got 200", {
  timeout: 120_000,
}, async () => {
  const replies: Reply[] = [];
  let isOver = false;
  const load = Array.from({ length: clients }, async (_, client) => {
    for (let n = 0; !isOver; n++) replies.push(await post(`${client}-${n}`));
  });
  const accepted = () => replies.filter(({ status }) => status === 200);
  for (const death of DEATHS) {
    const before = accepted().length;
    await vi.waitFor(() => expect(accepted().length).toBeGreaterThan(before + 2 * clients), eventually);
    await killPostgres(postgres, death);
    await expectRecovery();
  }
  const before = accepted().length;
  await vi.waitFor(() => expect(accepted().length).toBeGreaterThan(before + 2 * clients), eventually);
  isOver = true;
  await Promise.all(load);

  const others = replies.filter(({ status }) => status !== 200);
  expect(others.length).toBeGreaterThan(0);
  expect(others.filter(({ status, headers }) => status !== 503 || !headers["retry-after"])).toEqual([]);
  const ids = accepted().map(({ body }) => String(body.id));
  expect(new Set(ids).size).toBe(ids.length);
  const rows = await installation.deps.hot`
    select e.id from emails e
    where e.id = any(${ids}::uuid[])
      and exists (select from deliveries d where d.email_id = e.id)
      and exists (select from email_events v where v.email_id = e.id)
      and exists (select from email_bodies b where b.email_id = e.id)`;
  expect(rows).toHaveLength(ids.length);
});
