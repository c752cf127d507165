import { access } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { loadDotEnv, readSettings, type Settings, SettingsError } from "#server/env";
import { createLog, errorFacts, type Log } from "#server/log";
import { renderBanner } from "./banner";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "./embedded";
import { generatedFileOf } from "./generated";
import { type DataLock, takeLock } from "./lock";
import { type Door, openDoor, type RestDoor } from "./node";
import { buildFileOf, type NextPages, openPages } from "./pages";
import { onPackageManagerGone } from "./parents";
import { explainHolder, explainListen, Refusal } from "./refusal";
import type { Service } from "./service";
import { onStopSignals } from "./signals";

/** What is open so far. */
type House = {
  lock?: DataLock;
  door?: Door;
  postgres?: EmbeddedPostgres;
  service?: Service;
  pages?: NextPages;
};

/** What the door's requests wait for. */
type Awaited<T> = { promise: Promise<T>; resolve(value: T): void };

const projectFolder = fileURLToPath(new URL("../..", import.meta.url));
/** In dev pages are prepared when one is asked for, or this long after the banner, which leaves the first mail undisturbed. */
const preparePagesAfterMs = 2_000;
/** What requests under way get to end in. */
const graceMs = 25_000;
const stopMaxMs = 60_000;

/** Starts everything in this process and prints the banner; ends the process in order when it is told to stop. */
async function launch(mode: "dev" | "start"): Promise<void> {
  const nodeEnv = mode === "dev" ? "development" : "production";
  loadDotEnv(projectFolder, nodeEnv, process.env);
  Object.assign(process.env, { NODE_ENV: nodeEnv, NEXT_TELEMETRY_DISABLED: "1" });
  // Whoever reads our output may go away; that is no reason to end.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});
  const log = createLog(
    (line) => process.stdout.write(`${line}\n`),
    () => new Date(),
  );

  const house: House = {};
  const stopping = new AbortController();
  const opening = open(readSettings(process.env, mode), house, log, stopping.signal);
  onStopSignals({
    first: async (signal) => {
      log.info("launcher.stopping", { signal });
      stopping.abort(new Refusal("Stopped before it had started."));
      await opening.catch(() => {});
      // Whatever hangs, the process ends: what it leaves is found by the next start.
      setTimeout(() => process.exit(1), stopMaxMs);
      process.exit((await close(house, graceMs, log)) ? 0 : 1);
    },
    again: async () => {
      await house.postgres?.stop();
      process.exit(1);
    },
  });
  void onPackageManagerGone(() => process.kill(process.pid, "SIGHUP"));
  try {
    await opening;
  } catch (error) {
    // The signal's own handler closes the house.
    if (stopping.signal.aborted) return await new Promise<never>(() => {});
    await close(house, 0, log);
    throw error;
  }
}

async function open(settings: Settings, house: House, log: Log, signal: AbortSignal): Promise<void> {
  const isDev = settings.mode === "dev";
  const isEmbedded = settings.databaseUrl === null;
  if (!isDev) await requireBuild();
  if (isEmbedded) house.lock = await requireLock(settings);

  // Bound before anything slow begins; requests that come now wait for what answers them.
  const rest = awaited<RestDoor>();
  const deps = awaited<void>();
  const { host, port, apiHost } = settings;
  const pages = openPages({ isDev, folder: projectFolder, host, port, log, after: deps.promise });
  house.door = await openDoor({ host, port, apiHost, rest: rest.promise, pages, upgrades: isDev, log }).catch(
    (error: NodeJS.ErrnoException) => {
      throw explainListen(error, settings);
    },
  );
  house.pages = pages;
  await house.lock?.describe({ url: localUrlOf(settings) });

  // Read while the database starts, which keeps another core busy.
  const loading = import("./service");
  loading.then(() => import("next")).catch(() => {});
  if (isEmbedded) house.postgres = await startEmbeddedPostgres({ dataDir: settings.dataDir, log });
  const databaseUrl = settings.databaseUrl ?? house.postgres?.url ?? "";
  await house.lock?.describe({ databaseUrl });
  signal.throwIfAborted();
  const { openService } = await loading;
  house.service = await openService({
    settings,
    databaseUrl,
    log,
    signal,
    before: async () => {
      deps.resolve();
      // Preparing Next holds up this process for moments: in production no request is to meet that.
      if (!isDev) await pages.prepare();
    },
    onRest: rest.resolve,
  });
  showBanner(settings, house.service);
  if (isDev) setTimeout(() => void pages.prepare(), preparePagesAfterMs).unref();
}

/**
 * In order: nothing new comes in, what was begun is ended, and only then goes what it stands on. A step that fails keeps
 * none of the others from being made. True when all went well.
 */
async function close(house: House, forRequestsMs: number, log: Log): Promise<boolean> {
  let isWell = true;
  const steps: [name: string, step: () => Promise<unknown> | undefined][] = [
    ["traffic", () => Promise.all([house.door?.close(forRequestsMs), house.service?.stop()])],
    ["pages", () => house.pages?.close()],
    ["connections", () => house.service?.close()],
    ["database", () => house.postgres?.stop()],
    ["lock", () => house.lock?.release()],
  ];
  for (const [name, step] of steps) {
    try {
      await step();
    } catch (error) {
      isWell = false;
      log.error("launcher.not_closed", { what: name, ...errorFacts(error) });
    }
  }
  return isWell;
}

async function requireBuild(): Promise<void> {
  await access(buildFileOf(projectFolder)).catch(() => {
    throw new Refusal("There is no production build yet. Make it first: npm run build");
  });
}

async function requireLock(settings: Settings): Promise<DataLock> {
  const taken = await takeLock(settings.dataDir, settings.mode);
  if ("holder" in taken) throw explainHolder(taken.holder, settings);
  return taken.lock;
}

function showBanner(settings: Settings, { secrets, login }: Service): void {
  process.stdout.write(
    renderBanner({
      mode: settings.mode === "dev" ? "dev" : "start",
      url: settings.url,
      localUrl: localUrlOf(settings),
      login,
      firstKeyToken: secrets.firstKeyToken,
      secretsFile: generatedFileOf(settings.dataDir),
      smtpUrl: settings.smtpUrl,
    }),
  );
}

/** Where a program on this machine reaches the door. */
function localUrlOf({ host, port }: Settings): string {
  const isLocal = ["127.0.0.1", "0.0.0.0", "::", "::1"].includes(host);
  return `http://${isLocal ? "localhost" : host.includes(":") ? `[${host}]` : host}:${port}`;
}

function awaited<T>(): Awaited<T> {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

const mode = process.argv[2];
if (mode !== "dev" && mode !== "start") {
  process.stderr.write("Usage: launch.ts dev | start\n");
  process.exit(1);
}
launch(mode).catch((error: unknown) => {
  const isPlain = error instanceof Refusal || error instanceof SettingsError;
  const text = isPlain
    ? error.message
    : error instanceof Error
      ? (error.stack ?? error.message)
      : String(error);
  process.stderr.write(`\nPosthorn did not start.\n${text}\n`);
  process.exit(1);
});
