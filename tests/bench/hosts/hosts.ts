import path from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import postgres from "postgres";
import { migrateDatabase } from "#db/migrate";
import { createKey } from "#server/services/keys/keys";
import { startReplicated } from "../../support/database/streaming-replica";
import { startPgBouncer } from "../../support/processes/pgbouncer";
import { projectRoot, startProcess, type TestProcess } from "../../support/processes/processes";
import { BACKSTAMP_SECRET, furnish, type Place } from "../bench-database";
import { fillEmails } from "../fill-emails";
import { nothingDue } from "../queue";
import { type Line, milliseconds, perSecond, plainLine } from "../report";
import { SENDER_DOMAIN } from "../sample-email";
import { startChild } from "../start-child";
import type { OutsideCommands } from "./outside";
import { type Host, openHosts, ownAddress, type Role } from "./topology";

/** A web host also has a worker process, as `npm start` starts it. */
type Setup = { web: number; workers: number; delayMs?: number; isPooled?: boolean };
type Running = Awaited<ReturnType<typeof furnish>> & { urls: string[] };

const LOADS: Record<string, readonly Setup[]> = {
  scale: [
    { web: 1, workers: 0 },
    { web: 1, workers: 1 },
    { web: 2, workers: 0 },
    { web: 2, workers: 2 },
  ],
  delay: [0, 3].map((delayMs) => ({ web: 2, workers: 0, delayMs })),
  pooler: [{ web: 2, workers: 0, isPooled: true }],
};
const IDLE: Record<string, readonly Setup[]> = {
  delay: [0, 20].map((delayMs) => ({ web: 1, workers: 0, delayMs })),
  pooler: [false, true].map((isPooled) => ({ web: 1, workers: 0, isPooled })),
};
/** `BENCH_HOSTS=scale,replica` measures only these. All together take eight minutes. */
const parts = (process.env.BENCH_HOSTS ?? "scale,delay,pooler,limits,replica").split(",");
const connections = 64;
const secondsToWarmUp = 8;
const seconds = 15;
const drainMaxMs = 60_000;
const stopMaxMs = 90_000;
const arrivals = 21;
const limitPerMinute = 40;
/** As many as one search compares. */
const filled = 50_000;
const listCalls = 30;
const DATABASE = { max_connections: "200", max_locks_per_transaction: "512" };

/**
 * Web processes and workers on several hosts, which are network namespaces of this machine, over one
 * PostgreSQL and one Redis. They share its cores, so a host adds no speed here. What is shown is the
 * processor time of an email by role, how work divides, and that each email arrives once.
 */
export async function measureHosts(place: Place): Promise<Line[]> {
  const product = await place.product();
  const outside = await startChild<OutsideCommands>("hosts/outside.ts");
  const names = ["database", "replica", "redis", "between", "web1", "web2", "worker1", "worker2"] as const;
  const { hosts, close } = openHosts(names);
  const servers = await startReplicated(DATABASE, [hosts.database, hosts.replica]);
  const redisArgs = ["--bind", hosts.redis.address, "--protected-mode", "no", "--save", ""];
  const redis = await startIn(hosts.redis, "redis-server", redisArgs);
  const admin = postgres(servers.url, { max: 1, onnotice: () => {} });
  let databases = 0;

  /** Runs with this many hosts over an empty database. */
  async function withHosts<T>(setup: Setup, run: (at: Running) => Promise<T>, isReplicaRead = false) {
    const name = `bench_${++databases}`;
    await admin.unsafe(`create database ${name}`);
    const url = new URL(`/${name}`, servers.url).href;
    await migrateDatabase(url);
    const team = await furnish(url);
    const started: TestProcess[] = [];
    const between = await connectBetween(setup, url, started);
    const start = async (host: Host, ...args: string[]) => {
      const env = {
        DATABASE_URL: between ?? url,
        ...(setup.isPooled && { DATABASE_URL_UNPOOLED: url }),
        ...(isReplicaRead && { DATABASE_URL_REPLICA: new URL(`/${name}`, servers.replicaUrl).href }),
        REDIS_URL: `redis://${hosts.redis.address}:6379`,
        SMTP_URL: `smtp://${ownAddress}:2525`,
        BACKSTAMP_URL: `http://${hosts.web1.address}:3000`,
        BACKSTAMP_SECRET,
        BACKSTAMP_HOSTNAME: `${host.name}.bench.example`,
        BACKSTAMP_DATA_DIR: path.join(place.folder, host.name),
        NODE_ENV: "production",
      };
      started.unshift(await startIn(host, process.execPath, args, { cwd: product.folder, env }));
    };
    const web = [hosts.web1, hosts.web2].slice(0, setup.web);
    const workers = [hosts.worker1, hosts.worker2].slice(0, setup.workers);
    try {
      for (const host of web) {
        await start(host, ".next/backstamp/launch.mjs", "start");
        await started[0]?.waitFor(/Backstamp is running/);
      }
      for (const host of workers) await start(host, ".next/backstamp/admin.mjs", "worker");
      for (let running = 0; running < setup.web + setup.workers; await wait(100))
        running = (await team.hot<{ n: number }[]>`select count(*)::int as n from workers`)[0]?.n ?? 0;
      return await run({ ...team, urls: web.map(({ address }) => `http://${address}:3000`) });
    } finally {
      for (const each of started) await each.stop("SIGTERM", stopMaxMs);
      await team.close();
      await admin.unsafe(`drop database ${name} with (force)`);
    }
  }

  /** Starts what is between the processes and PostgreSQL, and returns the URL to use; null for nothing. */
  async function connectBetween({ isPooled, delayMs }: Setup, url: string, started: TestProcess[]) {
    if (isPooled) {
      const pooler = await startPgBouncer(url, 20, hosts.between);
      started.push({ stop: pooler.stop } as unknown as TestProcess);
      return pooler.url;
    }
    if (delayMs === undefined) return null;
    const near = new URL(url);
    const file = path.join(projectRoot, "tests/bench/hosts/delay.ts");
    const args = [hosts.between.address, near.hostname, near.port, String(delayMs)];
    const delay = await startIn(hosts.between, process.execPath, ["--import", "tsx", file, ...args]);
    started.push(delay);
    await delay.waitFor(/ready/);
    near.hostname = hosts.between.address;
    return near.href;
  }

  async function readAll() {
    const [wal = { bytes: 0, syncs: 0, writes: 0 }] = await admin<
      Record<"bytes" | "syncs" | "writes", number>[]
    >`
      select (select wal_bytes::float8 from pg_stat_wal) as bytes, sum(writes)::float8 as writes,
        sum(fsyncs) filter (where object = 'wal')::float8 as syncs
      from pg_stat_io where object in ('wal', 'relation')`;
    const cpu: Partial<Record<Role, number>> = {};
    for (const { name, readCpu } of Object.values(hosts))
      for (const [role, ms = 0] of Object.entries(readCpu()) as [Role, number | undefined][])
        if (name !== "replica") cpu[role] = (cpu[role] ?? 0) + ms;
    const replica = hosts.replica.readCpu().PostgreSQL ?? 0;
    return {
      ...wal,
      cpu,
      replica,
      network: hosts.database.readBytes(),
      received: await outside.ask("received"),
    };
  }

  /** The cost of an email under load, and how it divides. Throws unless each arrived once. */
  async function measureLoad(setup: Setup): Promise<Line[]> {
    return withHosts(setup, async ({ hot, token, urls }) => {
      const count = async () =>
        (await hot<{ n: number }[]>`select count(*)::int as n from deliveries`)[0]?.n ?? 0;
      await outside.ask("press", { urls, token, connections, seconds: secondsToWarmUp });
      await nothingDue(hot, drainMaxMs, 100);
      const [before, from] = [await readAll(), await count()];
      const startedMs = performance.now();
      const accepted = await outside.ask("press", { urls, token, connections, seconds });
      const open = await hot<{ name: string; n: number }[]>`
        select application_name as name, count(*)::int as n from pg_stat_activity
        where datname = current_database() and application_name like 'backstamp w%' group by 1 order by 1`;
      await nothingDue(hot, drainMaxMs, 100);
      const rate = ((await count()) - from) / ((performance.now() - startedMs) / 1_000);
      const cpuAfter = await readAll();
      // What is written to the tables later belongs to these emails, too.
      await admin`checkpoint`;
      const after = await readAll();
      const emails = (await count()) - from;
      const sent = Object.entries(after.received).map(([host, n]) => n - (before.received[host] ?? 0));
      if (sum(sent) !== emails) throw new Error(`${emails} emails were accepted, and ${sum(sent)} arrived.`);
      const cpu = (Object.entries(cpuAfter.cpu) as [Role, number][]).map(
        ([role, ms]) => `${role} ${of(ms - (before.cpu[role] ?? 0), emails)}`,
      );
      const shares = (parts: number[]) =>
        parts
          .filter(Boolean)
          .map((n) => Math.round((100 * n) / sum(parts)))
          .join(":");
      return [
        plainLine(
          `${setup.web} web hosts, ${setup.workers} worker hosts${nameOf(setup)}`,
          `${perSecond(rate, "emails")}; ms per email: ${cpu.join(", ")}, replica ${of(cpuAfter.replica - before.replica, emails)}`,
          `accepted ${shares(accepted)}, sent ${shares(sent)} percent; connections: ${open.map(({ name, n }) => `${name} ${n}`).join(", ")}; per email: WAL ${of(after.bytes - before.bytes, emails)} bytes, ${of(after.syncs - before.syncs, emails)} fsyncs, ${of(after.writes - before.writes, emails)} writes, ${of(after.network - before.network, emails)} bytes to and from the database`,
        ),
      ];
    });
  }

  /** From a request to its email at the receiving server, while nothing else is sent. */
  async function measureIdle(setup: Setup): Promise<Line[]> {
    const times = await withHosts(setup, async ({ token, urls: [url = ""] }) => {
      await outside.ask("arrive", { url, token, count: arrivals });
      return outside.ask("arrive", { url, token, count: arrivals });
    });
    const at = (share: number) => milliseconds(times[Math.floor(share * (arrivals - 1))] ?? 0);
    return [plainLine(`idle, to arrival${nameOf(setup)}`, `p50 ${at(0.5)}, p95 ${at(0.95)}`)];
  }

  /** One limit over two web processes. */
  async function measureLimits(): Promise<Line[]> {
    const count = 3 * limitPerMinute;
    const accepted = await withHosts({ web: 2, workers: 0 }, async ({ ctx, urls }) => {
      const limits = { "POST /api/emails": limitPerMinute };
      const key = { name: "limited", scopes: ["emails:send" as const], domains: [SENDER_DOMAIN], limits };
      return outside.ask("limited", { urls, token: (await createKey(ctx, key)).token, count });
    });
    return [
      plainLine(
        `a limit of ${limitPerMinute} a minute, ${count} requests to 2 web hosts`,
        `${accepted} accepted`,
      ),
    ];
  }

  /** Lists from the primary, then from the replica, with the processor time that they cost on each. */
  async function measureReplica(isRead: boolean): Promise<Line[]> {
    return withHosts(
      { web: 1, workers: 0 },
      async ({ hot, token, teamId, urls: [url = ""] }) => {
        await fillEmails(hot, teamId, filled);
        await servers.caughtUp();
        const lines: Line[] = [];
        for (const query of ["limit=100", "status=delivered", "subject=nosuchword"]) {
          await outside.ask("list", { url, token, query, count: listCalls });
          const before = await readAll();
          const ms = await outside.ask("list", { url, token, query, count: listCalls });
          const after = await readAll();
          const primary = of((after.cpu.PostgreSQL ?? 0) - (before.cpu.PostgreSQL ?? 0), listCalls);
          const spent = `ms of PostgreSQL: primary ${primary}, replica ${of(after.replica - before.replica, listCalls)}`;
          lines.push(
            plainLine(
              `GET /api/emails?${query}${isRead ? ", replica" : ""}`,
              `p50 ${milliseconds(ms)}`,
              spent,
            ),
          );
        }
        return lines;
      },
      isRead,
    );
  }

  const lines: Line[] = [];
  try {
    await outside.ask("listen");
    for (const part of parts) {
      for (const setup of LOADS[part] ?? []) lines.push(...(await measureLoad(setup)));
      for (const setup of IDLE[part] ?? []) lines.push(...(await measureIdle(setup)));
      if (part === "limits") lines.push(...(await measureLimits()));
      if (part === "replica")
        for (const isRead of [false, true]) lines.push(...(await measureReplica(isRead)));
    }
    return lines;
  } finally {
    await outside.end();
    await admin.end();
    await servers.close();
    await redis.killTree();
    close();
  }
}

const nameOf = ({ isPooled, delayMs }: Setup) =>
  isPooled ? ", PgBouncer" : delayMs === undefined ? "" : `, ${delayMs} ms more to PostgreSQL`;

const sum = (numbers: readonly number[]) => numbers.reduce((all, each) => all + each, 0);

/** Of each, with two decimals below ten. */
const of = (value: number, count: number) => {
  const each = value / count;
  return each < 10 ? each.toFixed(2) : String(Math.round(each));
};

const startIn = (
  { inside: [command = "", ...before] }: Host,
  program: string,
  args: string[],
  options = {},
) => startProcess(command, [...before, program, ...args], options);
