import { setTimeout as wait } from "node:timers/promises";
import { isTransientFault } from "#db/faults";
import type { Migrated } from "#db/migrate";
import type { Deps } from "#server/deps";
import type { Settings } from "#server/platform/env/settings";
import { silentLog } from "#server/platform/log";
import { SecretRejectedError } from "#server/platform/secrets/keyring";
import { type Built, buildDeps } from "../deps";
import { oldSecretsOf, readGenerated } from "../install/generated";
import { findHolder, type Holder } from "../launcher/lock";
import { OperatorError } from "../launcher/operator-error";
import type { Terminal } from "./terminal";

export const waitMaxMs = 60_000;
export const pollMs = 100;
const connectionsMax = 4;
/** For a task to delete what it has written. */
const stopMsMax = 5_000;

/** Close what was opened for a command, the latest first. */
export type Closers = (() => Promise<unknown>)[];
export type Session = {
  deps: Deps;
  databaseUrl: string;
  /** The base URL of links; null if it is not configured, see `requirePublicUrl`. */
  publicUrl: string | null;
  /**
   * The migrations applied when this command started the database; null if the database was already running.
   */
  migrated: Migrated | null;
  /** Runs a task with a signal that a stop signal of this process aborts. The database is closed after it. */
  stoppable<T>(task: (signal: AbortSignal) => Promise<T>): Promise<T>;
};

/** Runs a task with what `open` returns, and then calls its closers. A stop signal also closes gracefully. */
export async function withOpened<Opened, T>(
  { onStopSignals }: Pick<Terminal, "onStopSignals">,
  open: (closers: Closers) => Promise<Opened>,
  run: (opened: Opened) => Promise<T>,
): Promise<T> {
  const closers: Closers = [];
  const close = async () => {
    for (const end of closers.splice(0).reverse()) await end();
  };
  const opening = open(closers);
  let isStopping = false;
  onStopSignals({
    first: async () => {
      isStopping = true;
      await opening.catch(() => {});
      await close();
      process.exit(1);
    },
    again: async () => process.exit(1),
  });
  try {
    return await run(await opening);
  } catch (error) {
    // A command that fails during shutdown fails because its connections are closed. The error is not
    // reported.
    if (isStopping) return await new Promise<never>(() => {});
    throw error;
  } finally {
    await close();
  }
}

/**
 * The mode of a command without a running Backstamp: production, unless `NODE_ENV` is development.
 */
export const modeOf = ({ NODE_ENV }: Terminal["env"]): "dev" | "start" =>
  NODE_ENV === "development" ? "dev" : "start";

/** A running database, with the mode and the base URL of links of its installation. */
export type FoundDatabase = Pick<Session, "databaseUrl" | "publicUrl"> & { mode: "dev" | "start" };

/**
 * The configured database, or that of the running Backstamp with this data directory. Null if neither exists.
 */
export async function findDatabase(
  { databaseUrl, dataDir, givenUrl, url }: Settings,
  env: Terminal["env"],
): Promise<FoundDatabase | null> {
  if (databaseUrl !== null) return { databaseUrl, publicUrl: givenUrl, mode: modeOf(env) };
  for (let waitedMs = 0; ; waitedMs += pollMs) {
    const holder = await findHolder(dataDir);
    if (!holder) return null;
    const mode = holder.purpose === "dev" ? "dev" : "start";
    if (holder.databaseUrl !== null)
      return { databaseUrl: holder.databaseUrl, publicUrl: holder.publicUrl ?? url, mode };
    // The launcher is starting its database.
    if (waitedMs >= waitMaxMs) throw inUse(dataDir, holder);
    await wait(pollMs);
  }
}

/** The session of a running database. */
export function connect(
  settings: Settings,
  { databaseUrl, publicUrl, mode }: FoundDatabase,
  closers: Closers,
): Session & { built: Built; hasSecret: boolean } {
  const built = buildDeps(
    { ...settings, databaseUrl, mode, url: publicUrl ?? settings.url },
    { log: silentLog, applicationName: "backstamp command line", connectionsMax },
  );
  closers.push(() => built.close());
  const stoppable: Session["stoppable"] = (task) => {
    const stopping = new AbortController();
    const running = task(stopping.signal);
    closers.push(async () => {
      stopping.abort();
      await Promise.race([running.catch(() => {}), wait(stopMsMax, undefined, { ref: false })]);
    });
    return running;
  };
  const hasSecret = settings.secret !== null;
  return { built, deps: built.deps, databaseUrl, publicUrl, migrated: null, stoppable, hasSecret };
}

/**
 * Checks the secrets against the database. If they are rejected, each use of them throws the reason, and the
 * commands that do not use them work; returns false. The same if the database has another schema or does not
 * respond, which each command reports by itself.
 */
export async function areSecretsAccepted(check: Promise<void>): Promise<boolean> {
  try {
    await check;
    return true;
  } catch (error) {
    if (error instanceof SecretRejectedError || isTransientFault(error)) return false;
    throw error;
  }
}

/** The settings with the secrets that this data directory stores, unless `BACKSTAMP_SECRET` is set. */
export async function withKeptSecret(settings: Settings): Promise<Settings> {
  if (settings.secret !== null) return settings;
  const generated = await readGenerated(settings.dataDir);
  return { ...settings, secret: generated.secret ?? null, oldSecrets: oldSecretsOf(settings, generated) };
}

/** Why the database of a process that has the data directory cannot be used. */
export const inUse = (dataDir: string, { pid, purpose }: Holder) =>
  new OperatorError(
    `${dataDir} is in use by process ${pid} (${purpose}), whose database is not reachable. Try again, or stop that process.`,
  );
