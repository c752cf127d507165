import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import connect from "postgres";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { migrateDatabase } from "#db/migrate";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "#server/boot/embedded";
import { silentLog } from "#server/log";
import { createKey } from "#server/services/keys/keys";
import { createTeam } from "#server/services/teams";
import { killPostgres, type PostgresDeath, whenUp } from "../chaos/death";
import { openDeps } from "../support/deps";
import { callApi, type Reply, type RestServer, startRest } from "../support/rest";

const eventually = { timeout: 30_000, interval: 50 };
const clients = 10;
/** Who waits as long as each refusal says has been served before it said so much, from when the database takes connections. */
const recoverySecondsMax = 5;
const DEATHS: PostgresDeath[] = ["immediate", "all", "postmaster", "immediate"];

let folder: string;
/** With all its durability: what it forgot would look like a promise that was broken. */
let postgres: EmbeddedPostgres;
let house: ReturnType<typeof openDeps>;
let server: RestServer;
let token: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "posthorn-restart-"));
  postgres = await startEmbeddedPostgres({ dataDir: folder, log: silentLog });
  await migrateDatabase(postgres.url);
  house = openDeps(postgres.url);
  server = await startRest(house.deps);
  const team = await createTeam(house.deps, { name: "First" });
  const operator = { kind: "operator" as const };
  const ctx = { ...house.deps, teamId: team.id, actor: operator, requestId: "test" };
  const limits = { "POST /api/emails": 1_000_000 };
  ({ token } = await createKey(ctx, { name: "test", scopes: ["emails:send"], domains: "all", limits }));
});
afterAll(async () => {
  await server.close();
  await house.close();
  await postgres.stop();
  await rm(folder, { recursive: true, force: true });
});

const post = (subject: string): Promise<Reply> =>
  callApi(server.baseUrl, "POST", "/api/emails", {
    token,
    body: { from: "ann@posthorn.test", to: "delivered@posthorn.test", subject, html: "<p>Hello</p>" },
  });

/** Resolves when the database lets somebody in who never was there before. */
const whenTaking = () =>
  whenUp(house.deps.hot, async () => {
    const newcomer = connect(postgres.url, { max: 1, onnotice: () => {} });
    try {
      await newcomer`select 1`;
    } finally {
      await newcomer.end({ timeout: 0 });
    }
  });

/** Posts until it is served, each time as much later as the refusal says; tells how many seconds that were in all. */
async function postPatiently(subject: string): Promise<{ reply: Reply; toldSeconds: number }> {
  for (let toldSeconds = 0; ; ) {
    const reply = await post(subject);
    if (reply.status !== 503 || toldSeconds > recoverySecondsMax) return { reply, toldSeconds };
    const seconds = Number(reply.headers["retry-after"]);
    toldSeconds += seconds;
    await wait(seconds * 1_000);
  }
}

async function expectRecovery(): Promise<void> {
  await whenTaking();
  const served = await Promise.all(
    Array.from({ length: 3 * clients }, (_, n) => postPatiently(`after ${n}`)),
  );
  expect(served.map(({ reply }) => reply.status)).toEqual(served.map(() => 200));
  expect(Math.max(...served.map(({ toldSeconds }) => toldSeconds))).toBeLessThanOrEqual(recoverySecondsMax);
}

test("a database that dies again and again under load costs 503s, and never a mail that was answered 200", {
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
  const rows = await house.deps.hot`
    select e.id from emails e
    where e.id = any(${ids}::uuid[])
      and exists (select from deliveries d where d.email_id = e.id)
      and exists (select from email_events v where v.email_id = e.id)
      and exists (select from email_bodies b where b.email_id = e.id)`;
  expect(rows).toHaveLength(ids.length);
});
