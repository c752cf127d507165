import { access } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { loadDotEnv, readSettings, type Settings, SettingsError } from "#server/platform/env/settings";
import { errorFacts, type Log } from "#server/platform/log";
import { createProcessLog } from "#server/platform/process-log";
import { type HttpServer, openHttpServer } from "./http/node";
import { buildFileOf, type NextPages, openPages } from "./http/pages";
import type { RestApi } from "./http/rest-endpoint";
import { generatedFileOf } from "./install/generated";
import { renderBanner } from "./launcher/banner";
import { limitHeapGrowth } from "./launcher/heap-growth";
import { acquireLock, type DataLock } from "./launcher/lock";
import { explainFile, explainListen, OperatorError, requireOpenFiles } from "./launcher/operator-error";
import { onPackageManagerGone, onStopSignals } from "./launcher/signals";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "./postgres/embedded";
import type { Service } from "./service";

/** The parts that are open so far. */
type Parts = {
  lock?: DataLock;
  server?: HttpServer;
  postgres?: EmbeddedPostgres;
  service?: Service;
  pages?: NextPages;
};

type Deferred<T> = { promise: Promise<T>; resolve(value: T): void };

const projectFolder = fileURLToPath(new URL("../..", import.meta.url));
/** What the sign-in, the first page of the console and the guides consist of, in the order of their use. */
const FIRST_PAGES = ["/login", "/api/auth/csrf", "/console", "/api/trpc/-", "/console/emails", "/docs"];
/**
 * Next's compiler in dev stores its work once it is idle for 2 s. By default a short session stores nothing.
 */
const STORED_SOON = {
  TURBO_ENGINE_SNAPSHOT_IDLE_TIMEOUT_MILLIS: "2000",
  TURBO_ENGINE_SNAPSHOT_MIN_ACTIVE_TIME_MILLIS: "0",
};
/** Time for requests in progress to complete. */
const graceMs = 25_000;
const stopMaxMs = 60_000;

/**
 * Starts all parts in this process and prints the banner. A stop signal shuts the process down gracefully.
 */
async function launch(mode: "dev" | "start", shouldAdopt: boolean): Promise<void> {
  const nodeEnv = mode === "dev" ? "development" : "production";
  loadDotEnv(projectFolder, nodeEnv, process.env);
  Object.assign(process.env, { NODE_ENV: nodeEnv, NEXT_TELEMETRY_DISABLED: "1", ...STORED_SOON });
  // The compiler of `dev` has far more alive, and is gone before long.
  if (mode === "start") limitHeapGrowth();
  // A closed output pipe must not end the process.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});
  const log = createProcessLog();

  const parts: Parts = {};
  const stopping = new AbortController();
  const opening = open(readSettings(process.env, mode), shouldAdopt, parts, log, stopping.signal);
  onStopSignals({
    first: async (signal) => {
      log.info("launcher.stopping", { signal });
      stopping.abort(new OperatorError("Stopped before it had started."));
      await opening.catch(() => {});
      // The process ends even if a step hangs. The next startup cleans up.
      setTimeout(() => process.exit(1), stopMaxMs);
      process.exit((await close(parts, graceMs, log)) ? 0 : 1);
    },
    again: async () => {
      await parts.postgres?.stop();
      process.exit(1);
    },
  });
  onPackageManagerGone(() => process.kill(process.pid, "SIGHUP"));
  try {
    await opening;
  } catch (error) {
    // The signal handler closes the parts.
    if (stopping.signal.aborted) return await new Promise<never>(() => {});
    await close(parts, 0, log);
    throw error;
  }
}

async function open(
  settings: Settings,
  shouldAdopt: boolean,
  parts: Parts,
  log: Log,
  signal: AbortSignal,
): Promise<void> {
  const isDev = settings.mode === "dev";
  const isEmbedded = settings.databaseUrl === null;
  await requireOpenFiles();
  if (!isDev) await requireBuild();
  if (isEmbedded) parts.lock = await requireLock(settings);

  // The port is bound before any slow step. Requests that arrive now wait until the REST API or the pages are
  // ready.
  const rest = createDeferred<RestApi>();
  const deps = createDeferred<void>();
  const { host, port, apiHost } = settings;
  const pages = openPages({ isDev, folder: projectFolder, host, port, log, after: deps.promise });
  parts.server = await openHttpServer({
    host,
    port,
    apiHost,
    rest: rest.promise,
    pages,
    upgrades: isDev,
    log,
  }).catch((error: NodeJS.ErrnoException) => {
    throw explainListen(error, settings);
  });
  parts.pages = pages;
  parts.lock?.describe({ url: localUrlOf(settings), publicUrl: settings.url });

  // Loads the modules while the database starts on another core.
  const loading = import("./service");
  loading.then(() => import("next")).catch(() => {});
  if (isEmbedded)
    parts.postgres = await startEmbeddedPostgres({ dataDir: settings.dataDir, log, shouldAdopt });
  const databaseUrl = settings.databaseUrl ?? parts.postgres?.url ?? "";
  parts.lock?.describe({ databaseUrl });
  signal.throwIfAborted();
  const { openService } = await loading;
  parts.service = await openService({
    settings,
    databaseUrl,
    log,
    signal,
    before: async () => {
      deps.resolve();
      // Preparing Next blocks the event loop. In production this must not delay a request.
      if (!isDev) await pages.prepare();
    },
    onRest: rest.resolve,
  });
  showBanner(settings, parts.service);
  if (isDev) void compileFirstPages(localUrlOf(settings), signal);
}

/**
 * Requests pages once, so that Next compiles them while the banner is being read. The next start uses what
 * Next keeps on disk.
 */
async function compileFirstPages(localUrl: string, signal: AbortSignal): Promise<void> {
  for (const page of FIRST_PAGES)
    await fetch(`${localUrl}${page}`, { redirect: "manual", signal })
      .then((response) => response.arrayBuffer())
      .catch(() => {});
}

/**
 * Closes the parts in order of dependency: traffic and delivery first, then connections, then the database. A
 * failed step does not prevent the next ones. True if all steps succeeded.
 */
async function close(parts: Parts, forRequestsMs: number, log: Log): Promise<boolean> {
  let isClean = true;
  const steps: [name: string, step: () => Promise<unknown> | undefined][] = [
    ["traffic", () => Promise.all([parts.server?.close(forRequestsMs), parts.service?.stop()])],
    ["pages", () => parts.pages?.close()],
    ["connections", () => parts.service?.close()],
    ["database", () => parts.postgres?.stop()],
    ["lock", () => parts.lock?.release()],
  ];
  for (const [name, step] of steps) {
    try {
      await step();
    } catch (error) {
      isClean = false;
      log.error("launcher.not_closed", { what: name, ...errorFacts(error) });
    }
  }
  return isClean;
}

async function requireBuild(): Promise<void> {
  await access(buildFileOf(projectFolder)).catch(() => {
    throw new OperatorError("The production build is missing. Create it first: npm run build");
  });
}

async function requireLock(settings: Settings): Promise<DataLock> {
  const taken = await acquireLock(settings.dataDir, settings.mode).catch((error: NodeJS.ErrnoException) => {
    throw explainFile(error, settings.dataDir);
  });
  if ("lock" in taken) return taken.lock;
  const { pid, purpose, url } = taken.holder;
  throw new OperatorError(
    `Backstamp is already running with this data directory (${settings.dataDir}): process ${pid} (${purpose}) ` +
      `${url ? `at ${url}` : "is starting"}.\nUse that process, or stop it first: kill ${pid}`,
  );
}

function showBanner(settings: Settings, { secrets, login, relays, submission }: Service): void {
  process.stdout.write(
    renderBanner({
      mode: settings.mode === "dev" ? "dev" : "start",
      url: settings.url,
      localUrl: localUrlOf(settings),
      login,
      firstKeyToken: secrets.firstKeyToken,
      secretsFile: generatedFileOf(settings.dataDir),
      smtpUrl: settings.smtpUrl,
      relays,
      systemFrom: settings.systemFrom,
      submission: { ...submission, hasTls: settings.submission.certificateFiles !== null },
    }),
  );
}

/** The URL under which programs on this machine reach the HTTP server. */
function localUrlOf({ host, port }: Settings): string {
  const isLocal = ["127.0.0.1", "0.0.0.0", "::", "::1"].includes(host);
  return `http://${isLocal ? "localhost" : host.includes(":") ? `[${host}]` : host}:${port}`;
}

function createDeferred<T>(): Deferred<T> {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

const [mode, option] = process.argv.slice(2);
if ((mode !== "dev" && mode !== "start") || (option !== undefined && option !== "--adopt")) {
  process.stderr.write(
    "Usage: npm run dev | npm start, each with an optional -- --adopt\n" +
      "  --adopt  uses an embedded database that belongs to another data directory, because it was moved or copied\n",
  );
  process.exit(1);
}
launch(mode, option === "--adopt").catch((error: unknown) => {
  const isPlain = error instanceof OperatorError || error instanceof SettingsError;
  const text = isPlain
    ? error.message
    : error instanceof Error
      ? (error.stack ?? error.message)
      : String(error);
  process.stderr.write(`\nBackstamp did not start.\n${text}\n`);
  process.exit(1);
});
