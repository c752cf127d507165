import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { HotSql } from "#db/client";
import { migrateDatabase } from "#db/migrate";
import { startEmbeddedPostgres } from "#server/boot/embedded";
import { findPort } from "#server/boot/postgres/server";
import { silentLog } from "#server/log";
import { addDomain } from "#server/services/domains/write";
import { createKey } from "#server/services/keys/keys";
import { createTeam } from "#server/services/teams";
import { type Child, startChild } from "../support/child";
import { startTap, type Tap } from "../support/database-tap";
import { openDeps } from "../support/deps";
import { auditDatabase, readMails, readSteps, readTampering } from "./audit";
import { killPostgres, type PostgresDeath, whenUp } from "./death";
import type { Copy, Kill, Records, Victim } from "./records";
import type { SinkReport, SunkFile } from "./sink";

/**
 * A whole Posthorn of real processes: PostgreSQL with all its durability, two web processes and a worker, both kinds
 * behind a tap that can hold their packets to the database, and a mail server that writes before it answers.
 */
export type Rig = {
  baseUrls: readonly string[];
  token: string;
  domain: string;
  /** Asks the database, past the taps; waits for it while it is away. */
  ask<T>(question: (hot: HotSql) => PromiseLike<T>): Promise<T>;
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

/** Starts everything in a temporary folder. What was started before something failed is ended again. */
export async function openRig(): Promise<Rig> {
  const closers: (() => Promise<unknown>)[] = [];
  const close = async () => {
    for (const closer of closers.splice(0).reverse()) await closer();
  };
  try {
    return await assemble((closer) => closers.push(closer), close);
  } catch (error) {
    await close();
    throw error;
  }
}

async function assemble(
  onClose: (closer: () => Promise<unknown>) => void,
  close: () => Promise<void>,
): Promise<Rig> {
  const folder = await mkdtemp(path.join(tmpdir(), "posthorn-chaos-"));
  onClose(() => rm(folder, { recursive: true, force: true }));
  const mailFolder = path.join(folder, "mail");
  const postgres = await startEmbeddedPostgres({ dataDir: folder, log: silentLog });
  onClose(() => postgres.stop());
  await migrateDatabase(postgres.url);
  const { deps, close: closeDeps } = openDeps(postgres.url, { transportKind: "relay", connectionsMax: 6 });
  onClose(closeDeps);
  const ask: Rig["ask"] = (question) => whenUp(deps.hot, question);
  await ask(auditDatabase);
  const token = await makeToken(deps);

  const openTap = async (): Promise<Tap> => {
    const { hostname, port } = new URL(postgres.url);
    const tap = await startTap({ host: hostname, port: Number(port) });
    onClose(() => tap.close());
    return tap;
  };
  const webTaps = [await openTap(), await openTap()] as const;
  const workerTap = await openTap();
  const sink = startChild<SinkReport>("tests/chaos/sink.ts", [mailFolder], {});
  onClose(() => sink.kill());
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
  let isClosing = false;
  /** Notes whoever ends without being killed, and starts another one in its place, as a supervisor does. */
  const watch = (child: Child<object>, name: string, another: () => Promise<void>): void => {
    void child.exited.then(() => {
      if (!child.hasDied() || isClosing) return;
      const lastWords = child.output().trimEnd().split("\n").slice(-lastWordsLines);
      deaths.push(`${name} ended by itself: ${lastWords.join(" | ")}`);
      return another();
    });
  };
  const webPorts = [await findPort(), await findPort()];
  const webs: Child<{ port: number }>[] = [];
  const startWeb = async (index: 0 | 1): Promise<void> => {
    const given = { ...env(webTaps[index]), PORT: String(webPorts[index]) };
    const web = startChild<{ port: number }>("tests/support/web-process.ts", [], given);
    webs[index] = web;
    await web.hear(isPort);
    watch(web, "web", () => startWeb(index));
  };
  let worker: Child<object> | undefined;
  const startWorker = async (): Promise<void> => {
    const started = startChild("server/boot/worker-process.ts", [], env(workerTap));
    worker = started;
    const isThere = () => ask((hot) => hot`select 1 from workers where pid = ${started.pid}`);
    for (const untilMs = Date.now() + startMaxMs; (await isThere()).length === 0; await wait(20))
      if (started.hasExited() || Date.now() > untilMs)
        throw new Error(`The worker did not start:\n${started.output()}`);
    watch(started, "worker", startWorker);
  };
  const websUp: Promise<void>[] = [startWeb(0), startWeb(1)];
  onClose(async () => {
    isClosing = true;
    await Promise.allSettled(websUp);
    await Promise.all([...webs, worker].map((child) => child?.kill()));
  });
  await Promise.all([...websUp, startWorker()]);

  const kills: Kill[] = [];
  const lastFault = { atMs: 0, overMs: 0 };

  return {
    baseUrls: webPorts.map((port) => `http://127.0.0.1:${port}`),
    token,
    domain,
    ask,
    webTaps,
    workerTap,
    holdMail(at) {
      const held = sink.hear((told): told is { held: "unread" | "written" } => "held" in told);
      sink.tell({ hold: at });
      return held.then(() => undefined);
    },
    releaseMail: () => sink.tell({ hold: null }),
    webIsUp: async (web) => websUp[web],
    async kill(victim, aim, { web, death, whenDead }) {
      const atMs = Date.now();
      const kill: Kill = { victim, web: victim === "web" ? web : null, aim, atMs, backAtMs: null };
      kills.push(kill);
      if (victim === "web") {
        await webs[web]?.kill();
        whenDead();
        // The other one goes on, or is killed too before this one is back.
        websUp[web] = startWeb(web);
        return;
      }
      Object.assign(lastFault, { atMs, overMs: Number.POSITIVE_INFINITY });
      if (victim === "worker") {
        await worker?.kill();
        whenDead();
        // There is no other one, so whatever is in hand was in its hands.
        await ask(
          (hot) => hot`update deliveries set leased_until = now() - interval '1 s' where status = 'sending'`,
        );
        await startWorker();
      } else {
        await killPostgres(postgres, death);
        whenDead();
        await ask((hot) => hot`select 1`);
      }
      kill.backAtMs = Date.now();
      lastFault.overMs = kill.backAtMs;
    },
    async moveTime() {
      if (Date.now() > lastFault.overMs + graceMs)
        await ask(
          (hot) => hot`
            update deliveries set leased_until = now() - interval '1 s'
            where status = 'sending' and leased_until > now()
              and updated_at < to_timestamp(${lastFault.atMs / 1_000})`,
        );
      await ask(
        (hot) => hot`update deliveries set due_at = now() where status = 'queued' and due_at > now()`,
      );
    },
    async collect() {
      const stuck = await ask((hot) => hot`select 1 from deliveries where status = 'sending'`);
      return {
        copies: await readCopies(mailFolder),
        mails: await ask(readMails),
        steps: await ask(readSteps),
        tampering: await ask(readTampering),
        stuck: stuck.length,
        kills,
        deaths,
      };
    },
    outputs: () =>
      [...webs, worker, sink].map((child) => `--- process ${child?.pid}\n${child?.output()}`).join("\n"),
    close,
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
