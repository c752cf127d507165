import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { HotSql } from "#db/client";
import { isDatabaseAway } from "#db/faults";
import { migrateDatabase } from "#db/migrate";
import { startEmbeddedPostgres } from "#server/boot/embedded";
import { findPort } from "#server/boot/postgres/server";
import { silentLog } from "#server/log";
import { addDomain } from "#server/services/domains/write";
import { createKey } from "#server/services/keys/keys";
import { createTeam } from "#server/services/teams";
import { startTap, type Tap } from "../support/database-tap";
import { openDeps } from "../support/deps";
import { descendantsOf, isRunning } from "../support/processes";
import { auditDatabase, readMails, readSteps, readTampering } from "./audit";
import { type Child, startChild } from "./child";
import type { Copy, Kill, Records, Victim } from "./records";
import type { SinkReport, SunkFile } from "./sink";

/** How PostgreSQL is taken away: everything at once, its first process alone, or by its own immediate shutdown. */
export type PostgresDeath = "all" | "postmaster" | "immediate";

/**
 * A whole Posthorn of real processes: PostgreSQL with all its durability, two web processes and a worker, both kinds
 * behind a tap that can hold their packets to the database, and a mail server that writes before it answers.
 */
export type Rig = {
  baseUrls: readonly string[];
  token: string;
  domain: string;
  /** Straight to the database, past the taps. Fails while it is away. */
  hot: HotSql;
  /** One for each web process. */
  webTaps: readonly [Tap, Tap];
  workerTap: Tap;
  /** Settles when the sink holds a message at this point. */
  holdMail(at: "unread" | "written"): Promise<void>;
  releaseMail(): void;
  /**
   * Kills, calls `whenDead` when nothing of it runs any more, and resolves when it is back; a web process comes back by
   * itself while the other one goes on.
   */
  kill(
    victim: Victim,
    aim: Kill["aim"],
    how: { web: 0 | 1; death: PostgresDeath; whenDead(): void },
  ): Promise<void>;
  /** Resolves when this web process is there, should it just be coming back. */
  webIsUp(web: 0 | 1): Promise<unknown>;
  /** Lets whatever is overdue by a death become due now, and whatever waits. */
  moveTime(): Promise<void>;
  /** Everything but the calls. */
  collect(): Promise<Omit<Records, "calls">>;
  /** The last that each process wrote, for a run that failed. */
  outputs(): string;
  close(): Promise<void>;
};

const domain = "chaos.example";
const manyRequests = 1_000_000;
const secret = "only for this run, and long enough for one";
/** What a worker that lives gets to write down its results in, once the database is back. */
const graceMs = 3_000;
const startMaxMs = 60_000;
const lastWordsLines = 6;

/** Starts everything in a temporary folder. */
export async function openRig(): Promise<Rig> {
  const folder = await mkdtemp(path.join(tmpdir(), "posthorn-chaos-"));
  const mailFolder = path.join(folder, "mail");
  const postgres = await startEmbeddedPostgres({ dataDir: folder, log: silentLog });
  await migrateDatabase(postgres.url);
  const { deps, close: closeDeps } = openDeps(postgres.url, { transportKind: "relay", connectionsMax: 6 });
  const { hot } = deps;
  await auditDatabase(hot);
  const token = await makeToken(deps);

  const database = new URL(postgres.url);
  const target = { host: database.hostname, port: Number(database.port) };
  const webTaps = [await startTap(target), await startTap(target)] as const;
  const workerTap = await startTap(target);
  const sink = startChild<SinkReport>("tests/chaos/sink.ts", [mailFolder], {});
  const { port: sinkPort } = await sink.hear(isPort);
  const env = (tap: Tap): Record<string, string> => {
    const url = new URL(postgres.url);
    url.port = String(tap.port);
    return {
      DATABASE_URL: url.href,
      SMTP_URL: `smtp://127.0.0.1:${sinkPort}`,
      POSTHORN_URL: "http://localhost:3000",
      POSTHORN_SECRET: secret,
      POSTHORN_HOSTNAME: domain,
    };
  };

  const deaths: string[] = [];
  /** Notes whoever ends without being killed, and starts another one in its place, as a supervisor does. */
  const watch = <C extends Child<object>>(child: C, name: string, another: () => Promise<C>): C => {
    void child.exited.then(async () => {
      if (!child.hasDied() || isClosing) return;
      deaths.push(
        `${name} ended by itself: ${child.output().trimEnd().split("\n").slice(-lastWordsLines).join(" | ")}`,
      );
      await another();
    });
    return child;
  };
  const webPorts = [await findPort(), await findPort()];
  const webs: Child<{ port: number }>[] = [];
  const startWeb = async (index: 0 | 1): Promise<Child<{ port: number }>> => {
    const given = { ...env(webTaps[index]), PORT: String(webPorts[index]) };
    const web = startChild<{ port: number }>("tests/chaos/web.ts", [], given);
    webs[index] = web;
    await web.hear(isPort);
    return watch(web, "web", () => startWeb(index));
  };
  const startWorker = async (): Promise<Child<object>> => {
    worker = startChild("server/boot/worker-process.ts", [], env(workerTap));
    const started = worker;
    const untilMs = Date.now() + startMaxMs;
    while ((await whenUp(() => hot`select 1 from workers where pid = ${started.pid}`)).length === 0) {
      if (started.hasExited() || Date.now() > untilMs)
        throw new Error(`The worker did not start:\n${started.output()}`);
      await wait(20);
    }
    return watch(started, "worker", startWorker);
  };
  let isClosing = false;
  let worker: Child<object> | null = null;
  const websUp: Promise<unknown>[] = [startWeb(0), startWeb(1)];
  await Promise.all([...websUp, startWorker()]);

  const kills: Kill[] = [];
  let faultAtMs = 0;
  let faultOverMs = 0;

  /** Kills PostgreSQL; whoever started it starts it again by itself. */
  const killPostgres = async (death: PostgresDeath, whenDead: () => void): Promise<void> => {
    const { pid } = postgres;
    const all = [pid, ...descendantsOf(pid)];
    const untilMs = Date.now() + startMaxMs;
    for (const one of death === "all" ? all : [pid])
      killIfThere(one, death === "immediate" ? "SIGQUIT" : "SIGKILL");
    while (all.some(isRunning) && Date.now() < untilMs) await wait(2);
    whenDead();
    while (postgres.pid === pid || !(await isUp(hot))) {
      if (Date.now() > untilMs) throw new Error("PostgreSQL did not come back.");
      await wait(20);
    }
  };

  const moveTime = async (): Promise<void> => {
    if (Date.now() > faultOverMs + graceMs)
      await hot`update deliveries set leased_until = now() - interval '1 s'
        where status = 'sending' and leased_until > now()
          and updated_at < to_timestamp(${faultAtMs / 1_000})`;
    await hot`update deliveries set due_at = now() where status = 'queued' and due_at > now()`;
  };

  return {
    baseUrls: webPorts.map((port) => `http://127.0.0.1:${port}`),
    token,
    domain,
    hot,
    webTaps,
    workerTap,
    holdMail(at) {
      const held = sink.hear((told): told is { held: "unread" | "written" } => "held" in told);
      sink.tell({ hold: at });
      return held.then(() => undefined);
    },
    releaseMail: () => sink.tell({ hold: null }),
    async kill(victim, aim, { web, death, whenDead }) {
      if (victim === "web") {
        kills.push({ victim, web, aim, atMs: Date.now() });
        await webs[web]?.kill();
        whenDead();
        // The other one goes on, or is killed too before this one is back.
        websUp[web] = startWeb(web);
        return;
      }
      const atMs = Date.now();
      kills.push({ victim, web: null, aim, atMs });
      faultAtMs = atMs;
      faultOverMs = Number.POSITIVE_INFINITY;
      if (victim === "worker") {
        await worker?.kill();
        whenDead();
        // There is no other one, so whatever is in hand was in its hands.
        await hot`update deliveries set leased_until = now() - interval '1 s' where status = 'sending'`;
        await startWorker();
      } else await killPostgres(death, whenDead);
      faultOverMs = Date.now();
    },
    webIsUp: async (web) => websUp[web],
    moveTime,
    async collect() {
      const [stuck] = await hot<{ count: number }[]>`
        select count(*)::int as count from deliveries where status = 'sending'`;
      return {
        copies: await readCopies(mailFolder),
        mails: await readMails(hot),
        steps: await readSteps(hot),
        kills,
        tampering: await readTampering(hot),
        stuck: stuck?.count ?? 0,
        deaths,
      };
    },
    outputs: () =>
      [...webs, worker, sink].map((child) => `--- process ${child?.pid}\n${child?.output()}`).join("\n"),
    async close() {
      isClosing = true;
      await Promise.allSettled(websUp);
      await Promise.all([...webs, worker, sink].map((child) => child?.kill()));
      await Promise.all([...[...webTaps, workerTap].map((tap) => tap.close()), closeDeps()]);
      await postgres.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const isPort = (told: object): told is { port: number } => "port" in told;

async function makeToken(deps: Parameters<typeof createTeam>[0]): Promise<string> {
  const team = await createTeam(deps, { name: "Chaos" });
  const ctx = { ...deps, teamId: team.id, actor: { kind: "operator" as const }, requestId: "chaos" };
  await addDomain(ctx, { name: domain, verified: true });
  const { token } = await createKey(ctx, {
    name: "chaos",
    scopes: ["emails:send", "emails:read"],
    domains: [domain],
    limits: { "POST /api/emails": manyRequests, "GET /api/emails": manyRequests },
  });
  return token;
}

/** Asks again for as long as the database is away. */
async function whenUp<T>(ask: () => PromiseLike<T>): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!isDatabaseAway(error)) throw error;
      await wait(20);
    }
  }
}

async function isUp(hot: HotSql): Promise<boolean> {
  try {
    await hot`select 1`;
    return true;
  } catch (error) {
    if (isDatabaseAway(error)) return false;
    throw error;
  }
}

function killIfThere(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

/** What the sink has on disk. A file that has no time yet was never answered, and its message never counted. */
async function readCopies(folder: string): Promise<Copy[]> {
  const names = (await readdir(folder)).sort();
  const files = await Promise.all(
    names.map(
      async (name) => JSON.parse(await readFile(path.join(folder, name), "utf8")) as Partial<SunkFile>,
    ),
  );
  return files.flatMap(({ to = [], messageId = null, writtenAtMs }) =>
    writtenAtMs === undefined ? [] : [{ recipients: to, messageId, writtenAtMs }],
  );
}
