import { setTimeout as wait } from "node:timers/promises";
import { isSchemaMissing, isTransientFault } from "#db/faults";
import type { Migrated } from "#db/migrate";
import { teams } from "#db/schema/teams";
import type { Ctx, Deps } from "#server/deps";
import { readSettings, type Settings } from "#server/platform/env/settings";
import { AppError } from "#server/platform/errors";
import { newId } from "#server/platform/ids";
import { silentLog } from "#server/platform/log";
import { SecretRejectedError } from "#server/platform/secrets/keyring";
import { admitKeyring, checkKeyring } from "#server/services/secrets/registry";
import { activateSecret, isActivationDue } from "#server/services/secrets/rotate";
import { findTeam } from "#server/services/teams";
import type { Team } from "#server/shared/wire/people/team";
import { type Built, buildDeps } from "../deps";
import { readGenerated } from "../install/generated";
import { oldSecretsOf, resolveSecrets, seedInstallation } from "../install/installation";
import { prepareDatabase } from "../install/prepare-database";
import { acquireLock, findHolder, type Holder } from "../launcher/lock";
import { OperatorError } from "../launcher/operator-error";
import { hasEmbeddedDatabase } from "../postgres/cluster-location";
import { startEmbeddedPostgres } from "../postgres/embedded";
import type { Terminal } from "./terminal";

const waitMaxMs = 60_000;
const pollMs = 100;
const connectionsMax = 4;
/** For a task to delete what it has written. */
const stopMsMax = 5_000;

type Closers = (() => Promise<unknown>)[];
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

export type SessionOptions = {
  /**
   * A stopped embedded database is used as it is: nothing is created or migrated. OperatorError if there is
   * none.
   */
  isUnchanged?: boolean;
};

/**
 * Runs one command with a database: the configured one, else that of the running Backstamp with this data
 * directory, else the embedded one, which is started for this command and stopped afterwards. A signal also
 * stops it gracefully.
 */
export async function withDatabase<T>(
  { env, onStopSignals }: Pick<Terminal, "env" | "onStopSignals">,
  run: (session: Session) => Promise<T>,
  options: SessionOptions = {},
): Promise<T> {
  const settings = { ...readSettings(env, "dev"), mode: modeOf(env, null) };
  const closers: Closers = [];
  const close = async () => {
    for (const end of closers.splice(0).reverse()) await end();
  };
  const opening = open(settings, closers, options);
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
 * The mode that applies to a command: that of the running Backstamp. Without one it is production, unless
 * `NODE_ENV` is development.
 */
export const modeOf = (env: Terminal["env"], running: Pick<Holder, "purpose"> | null): "dev" | "start" =>
  (running ? running.purpose === "dev" : env.NODE_ENV === "development") ? "dev" : "start";

/** The context of services for one team, with the operator as the actor. */
export const operatorCtx = (deps: Deps, teamId: string): Ctx => ({
  ...deps,
  teamId,
  actor: { kind: "operator" },
  requestId: newId(),
});

/** The same for the whole installation. */
export const operatorOf = (deps: Deps): Omit<Ctx, "teamId"> => ({
  ...deps,
  actor: { kind: "operator" },
  requestId: newId(),
});

/**
 * Runs a task for the given or the first team. OperatorError with the team's name if it finds nothing there.
 */
export async function withTeam<T>(
  { deps }: Session,
  given: string | undefined,
  task: (ctx: Ctx, team: Team) => Promise<T>,
): Promise<T> {
  const team = await findTeam(deps, given);
  try {
    return await task(operatorCtx(deps, team.id), team);
  } catch (error) {
    if (!(error instanceof AppError && error.code === "not_found")) throw error;
    throw new OperatorError(
      `${error.message} in team ${team.name}. Use --team for another team; team list lists them.`,
      { cause: error },
    );
  }
}

/**
 * The public URL, for commands that print a link. Throws an OperatorError if it is not configured; no default
 * is used.
 */
export function requirePublicUrl({ publicUrl }: Pick<Session, "publicUrl">): string {
  if (publicUrl !== null) return publicUrl;
  throw new OperatorError(
    "BACKSTAMP_URL is not set, and links are built from it. Set the public URL of the installation: BACKSTAMP_URL=https://mail.example.com",
  );
}

/** The Backstamp that runs with this data directory, after its database has started. Null if none runs. */
export async function findLauncher(dataDir: string): Promise<(Holder & { databaseUrl: string }) | null> {
  for (let waitedMs = 0; ; waitedMs += pollMs) {
    const holder = await findHolder(dataDir);
    if (!holder) return null;
    if (holder.databaseUrl !== null) return { ...holder, databaseUrl: holder.databaseUrl };
    if (waitedMs >= waitMaxMs) throw inUse(dataDir, holder);
    await wait(pollMs);
  }
}

async function open(settings: Settings, closers: Closers, { isUnchanged }: SessionOptions): Promise<Session> {
  if (settings.databaseUrl !== null) {
    const session = connect(await withKeptSecret(settings), settings.databaseUrl, closers);
    if (session.hasSecret) await areSecretsAccepted(checkKeyring(session.deps));
    return { ...session, publicUrl: settings.givenUrl };
  }
  const { dataDir } = settings;
  const startedMs = performance.now();
  for (;;) {
    const launcher = await findLauncher(dataDir);
    if (launcher) {
      const url = launcher.publicUrl ?? settings.url;
      const running = { ...settings, url, mode: modeOf({}, launcher) };
      const session = connect(await withKeptSecret(running), launcher.databaseUrl, closers);
      await waitUntilFilled(session.deps);
      if (session.hasSecret) await areSecretsAccepted(checkKeyring(session.deps));
      return session;
    }
    if (isUnchanged && !(await hasEmbeddedDatabase(dataDir))) throw noDatabase(dataDir);
    const taken = await acquireLock(dataDir, "command line");
    if ("lock" in taken) {
      closers.push(() => taken.lock.release());
      return isUnchanged ? startUnchanged(settings, closers) : startEmbedded(settings, closers);
    }
    if (performance.now() - startedMs > waitMaxMs) throw inUse(dataDir, taken.holder);
  }
}

function connect(
  settings: Settings,
  databaseUrl: string,
  closers: Closers,
): Session & { built: Built; hasSecret: boolean } {
  const built = buildDeps(
    { ...settings, databaseUrl },
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
  return {
    built,
    deps: built.deps,
    databaseUrl,
    publicUrl: settings.url,
    migrated: null,
    stoppable,
    hasSecret: settings.secret !== null,
  };
}

/**
 * Checks the secrets against the database. If they are rejected, each use of them throws the reason, and the
 * commands that do not use them work; returns false. The same if the database has another schema or does not
 * respond, which each command reports by itself.
 */
async function areSecretsAccepted(check: Promise<void>): Promise<boolean> {
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

async function startUnchanged(settings: Settings, closers: Closers): Promise<Session> {
  const postgres = await startEmbeddedPostgres({ dataDir: settings.dataDir, log: silentLog });
  closers.push(() => postgres.stop());
  return connect(await withKeptSecret(settings), postgres.url, closers);
}

/** Performs the launcher's first-time setup. A later launcher finds it complete. */
async function startEmbedded(settings: Settings, closers: Closers): Promise<Session> {
  const secrets = await resolveSecrets(settings, true);
  const postgres = await startEmbeddedPostgres({ dataDir: settings.dataDir, log: silentLog });
  closers.push(() => postgres.stop());
  const { secret, oldSecrets } = secrets;
  const session = connect({ ...settings, secret, oldSecrets }, postgres.url, closers);
  const migrated = await prepareDatabase(postgres.url, silentLog, AbortSignal.timeout(waitMaxMs));
  // No other process uses the database.
  if ((await areSecretsAccepted(admitKeyring(session.deps))) && (await isActivationDue(session.deps)))
    await activateSecret(session.deps, { isAlone: true });
  const restDeps = session.built.forRest({ tick: async () => {} });
  await seedInstallation(restDeps, settings, secrets, { isEmbedded: true });
  return { ...session, migrated };
}

// On its first start, the launcher publishes the database's URL before the tables and the first team exist.
async function waitUntilFilled(deps: Deps): Promise<void> {
  for (let waitedMs = 0; waitedMs < waitMaxMs; waitedMs += pollMs) {
    const found = await deps.db
      .select({ id: teams.id })
      .from(teams)
      .limit(1)
      .catch((error: unknown) => {
        if (isSchemaMissing(error)) return [];
        throw error;
      });
    if (found.length > 0) return;
    await wait(pollMs);
  }
}

const noDatabase = (dataDir: string) =>
  new OperatorError(
    `${dataDir} contains no database. Set DATABASE_URL or BACKSTAMP_DATA_DIR as the installation has it.`,
  );

const inUse = (dataDir: string, { pid, purpose }: Holder) =>
  new OperatorError(
    `${dataDir} is in use by process ${pid} (${purpose}), whose database is not reachable. Try again, or stop that process.`,
  );
