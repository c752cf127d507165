import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import postgres from "postgres";
import { migrateDatabase } from "#db/migrate";
import { silentLog } from "#server/platform/log";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "#server/startup/postgres/embedded";
import { startTap, type Tap } from "../support/database/database-tap";
import { installationSecret } from "../support/deps";
import { type Child, startChild } from "../support/processes/child";
import { compiledOf } from "../support/processes/program";
import { type RedisServer, redisMissing, startRedis } from "../support/processes/redis";
import { startDnsTestServer } from "../support/servers/dns-test-server";
import { type Ask, auditDatabase, readEmails, readSteps, readTampering } from "./audit";
import { type Hooks, openHooks } from "./hooks";
import { addressOf, answerDns } from "./internet";
import { retryWhileDown } from "./kill-postgres";
import { openTeam } from "./open-team";
import { openProcesses, type Processes } from "./processes";
import {
  type Actor,
  type Disturbance,
  PROCESSES,
  type Records,
  type Restored,
  type ServerFault,
} from "./records";
import type { Release } from "./release";
import type { HoldPoint, SinkReport, StoredMessage } from "./sink";
import { readCopies, readStoredMessages } from "./stored-messages";

/** The transport of a rig's workers. */
export type TransportKind = "relay" | "direct";

/**
 * A complete Backstamp of real processes: PostgreSQL with full durability, two web processes and two workers,
 * each behind a tap that can hold its packets to the database. Around them are mail servers that write to
 * disk before they reply, a DNS server, a Redis and a webhook endpoint, all of which can fail.
 */
export type Rig = {
  way: TransportKind;
  /** The release as which the rig started; null if it started as this version. */
  release: Release | null;
  processes: Processes;
  postgres: EmbeddedPostgres;
  token: string;
  domain: string;
  webhookId: string;
  /** A call of the API at a running web process, with the key for everything. */
  api(
    method: string,
    apiPath: string,
    body?: unknown,
  ): Promise<{ status: number; body: Record<string, unknown> }>;
  /** Queries the database, not through the taps. Waits while it is down. */
  ask<T>(question: (hot: Ask) => PromiseLike<T>): Promise<T>;
  taps: Readonly<Record<Actor, Tap>>;
  hooks: Hooks;
  /** Null if no Redis can be started here. */
  redis: RedisServer | null;
  /** Resolves when the sink holds a message of this worker at this point. */
  holdMessage(at: HoldPoint, of: Actor): Promise<void>;
  releaseMessage(): void;
  refuseLogin(refuses: boolean): void;
  /** What the sink has on disk so far. */
  sunk(): StoredMessage[];
  /** The settings of a process of another installation with this database, which delivers as `client`. */
  envFor(databaseUrl: string, client: string): Record<string, string>;
  restored: Restored[];
  /** One bounded delivery round in a separate process, killed with the rig. */
  startTick(): Child<object>;
  /** The folder of the database. */
  dataDir: string;
  serverFaults: readonly ServerFault[];
  disturbances: Disturbance[];
  /** Records a disturbance from now until the promise settles. */
  disturb<T>(about: Omit<Disturbance, "fromMs" | "toMs">, task: () => Promise<T>): Promise<T>;
  /** Findings of the faults themselves. */
  addFinding(row: string, what: string): void;
  /** Everything but the calls. */
  collect(): Promise<Omit<Records, "calls">>;
  /** The last output of each process, for a failed run. */
  outputs(): string;
  close(): Promise<void>;
};

export type RigOptions = {
  way: TransportKind;
  /** The folder for the database, created and removed by the caller. Default: a new folder. */
  dataDir?: string;
  /** Starts as this release. Default: this version. */
  release?: Release;
};

/** Shortened, so that frozen workers and silent servers are detected soon. */
export const leaseSeconds = 12;
const TIME_LIMITS = `connect=5,command=5,data=5,block=5,final=5,lease=${leaseSeconds}`;
const mailDomain = "chaos.example";

/** Starts everything in a temporary folder. If something fails, what was started before is stopped. */
export async function openRig(options: RigOptions): Promise<Rig> {
  const closers: (() => Promise<unknown>)[] = [];
  const close = async () => {
    for (const closer of closers.splice(0).reverse()) await closer();
  };
  try {
    return await assemble(options, (closer) => closers.push(closer), close);
  } catch (error) {
    await close();
    throw error;
  }
}

async function assemble(
  { way, dataDir, release }: RigOptions,
  onClose: (closer: () => Promise<unknown>) => void,
  close: () => Promise<void>,
): Promise<Rig> {
  const folder = await mkdtemp(path.join(tmpdir(), "backstamp-chaos-"));
  onClose(() => rm(folder, { recursive: true, force: true }));
  const mailFolder = path.join(folder, "mail");
  const database = await startEmbeddedPostgres({ dataDir: dataDir ?? folder, log: silentLog });
  onClose(() => database.stop());
  const hooks = await openHooks();
  onClose(() => hooks.close());
  const endpoint = `http://127.0.0.1:${hooks.port}/hooks`;
  if (!release) await migrateDatabase(database.url);
  const team = await (release?.prepare ?? openTeam)(database.url, mailDomain, endpoint);
  const own = postgres(database.url, { max: 4, onnotice: () => {}, connect_timeout: 5, fetch_types: false });
  onClose(() => own.end({ timeout: 5 }));
  const ask: Rig["ask"] = (question) => retryWhileDown(own, question);
  await ask(auditDatabase);

  const { hostname, port, password } = new URL(database.url);
  const taps = {} as Record<Actor, Tap>;
  for (const who of PROCESSES) {
    taps[who] = await startTap({ host: hostname, port: Number(port) });
    onClose(() => taps[who].close());
    await ask((hot) => hot.unsafe(`create role ${who} login superuser password '${password}'`));
  }
  const serverFaults: ServerFault[] = [];
  const tickProgram = await compiledOf("tests/chaos/tick-process.ts");
  const sink: Child<SinkReport> = startChild<SinkReport>(
    await compiledOf("tests/chaos/sink.ts"),
    [mailFolder],
    {},
  );
  onClose(() => sink.kill());
  const { port: sinkPort } = await sink.waitFor((message): message is { port: number } => "port" in message);
  sink.onMessage((message) => "serverFault" in message && serverFaults.push(message.serverFault));
  const dns = await startDnsTestServer(answerDns);
  onClose(() => dns.close());
  const redis = redisMissing === null ? await startRedis() : null;
  onClose(async () => redis?.stop());

  const envOf = (who: Actor): Record<string, string> => {
    const url = new URL(database.url);
    url.username = who;
    url.port = String(taps[who].port);
    return {
      DATABASE_URL: url.href,
      SMTP_URL:
        way === "direct" ? `direct:${sinkPort}` : `smtp://user:password@${addressOf("relay")}:${sinkPort}`,
      BACKSTAMP_URL: "http://localhost:3000",
      BACKSTAMP_SECRET: installationSecret,
      // The EHLO name identifies the worker to the sink.
      BACKSTAMP_HOSTNAME: `${who}.${mailDomain}`,
      BACKSTAMP_DNS_SERVERS: `${dns.host}:${dns.port}`,
      BACKSTAMP_EGRESS_ALLOW: "127.0.0.0/8",
      BACKSTAMP_TIME_LIMITS: TIME_LIMITS,
      ...(redis ? { REDIS_URL: redis.url } : {}),
      // A recipient with its own return path has a separate transaction; otherwise recipients share one.
      ...(way === "direct" ? { BACKSTAMP_RETURN_PATH_DOMAIN: `returns.${mailDomain}` } : {}),
    };
  };
  const processes = await openProcesses(envOf, ask);
  onClose(() => processes.close());
  const version = release ? { root: release.root } : {};
  await Promise.all(
    (["web0", "web1", "worker0", "worker1"] as const).map((who) => processes.start(who, version)),
  );

  const ticks = new Set<Child<object>>();
  onClose(() => Promise.all([...ticks].map((one) => one.kill())));
  const disturbances: Disturbance[] = [];
  const faultFindings: Records["faultFindings"] = [];
  const restored: Restored[] = [];
  return {
    way,
    release: release ?? null,
    processes,
    postgres: database,
    token: team.token,
    domain: mailDomain,
    webhookId: team.webhookId,
    ask,
    taps,
    hooks,
    redis,
    sunk: () => readStoredMessages(mailFolder),
    envFor: (databaseUrl, client) => ({
      ...envOf("tick"),
      DATABASE_URL: databaseUrl,
      BACKSTAMP_HOSTNAME: client,
    }),
    restored,
    startTick() {
      const tick = startChild<object>(tickProgram, [], envOf("tick"));
      ticks.add(tick);
      return tick;
    },
    dataDir: dataDir ?? folder,
    serverFaults,
    disturbances,
    async api(method, apiPath, body) {
      await processes.isUp("web0");
      const response = await fetch(`${processes.baseUrls[0]}${apiPath}`, {
        method,
        headers: { authorization: `Bearer ${team.token}`, "content-type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return { status: response.status, body: (await response.json()) as Record<string, unknown> };
    },
    holdMessage(at, of) {
      const held = sink.waitFor((message): message is { held: HoldPoint } => "held" in message);
      sink.send({ hold: { at, of } });
      return held.then(() => undefined);
    },
    releaseMessage: () => sink.send({ hold: null }),
    refuseLogin: (refusesLogin) => sink.send({ refusesLogin }),
    async disturb(about, task) {
      const disturbance: Disturbance = { ...about, fromMs: Date.now(), toMs: null };
      disturbances.push(disturbance);
      try {
        return await task();
      } finally {
        disturbance.toMs = Date.now();
      }
    },
    addFinding: (row, what) => void faultFindings.push({ row, what }),
    async collect() {
      const stuck = await ask((hot) => hot`select 1 from queue where lease_token is not null`);
      return {
        copies: readCopies(mailFolder),
        emails: await ask(readEmails),
        steps: await ask(readSteps),
        tampering: await ask(readTampering),
        hooks: await ask((hot) => hooks.collect(hot, team.webhookId)),
        stuck: stuck.length,
        disturbances,
        serverFaults,
        exits: processes.exits,
        faultFindings,
        restored,
      };
    },
    outputs: () => `${processes.outputs()}\n--- sink\n${sink.output()}`,
    close,
  };
}
