import { setTimeout as wait } from "node:timers/promises";
import { teams } from "#db/schema/teams";
import type { Ctx, Deps } from "#server/deps";
import { readSettings, type Settings } from "#server/env";
import { AppError } from "#server/errors";
import { newId } from "#server/ids";
import { silentLog } from "#server/log";
import { findTeam, type Team } from "#server/services/teams";
import { type Built, buildDeps } from "../deps";
import { startEmbeddedPostgres } from "../embedded";
import { readGenerated } from "../generated";
import { seedInstallation, settleSecrets } from "../installation";
import { findHolder, type Holder, takeLock } from "../lock";
import { prepareDatabase } from "../prepare";
import { Refusal } from "../refusal";
import { onStopSignals } from "../signals";

const patienceMs = 60_000;
const lookAgainMs = 100;
const connectionsMax = 4;

type Closers = (() => Promise<unknown>)[];
export type Session = { deps: Deps; databaseUrl: string };

/**
 * Runs one command with a database: the configured one, else that of the Posthorn that runs with this data directory,
 * else the embedded one, started for this alone and stopped afterwards. A signal ends it in order, too.
 */
export async function withDatabase<T>(run: (session: Session) => Promise<T>): Promise<T> {
  const settings = readSettings(process.env, "dev");
  const closers: Closers = [];
  const close = async () => {
    for (const end of closers.splice(0).reverse()) await end();
  };
  const opening = open(settings, closers);
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
    // What breaks because everything is being closed is no fault of its own.
    if (isStopping) return await new Promise<never>(() => {});
    throw error;
  } finally {
    await close();
  }
}

/** Runs one command on behalf of a team: named by id or name, or else the first. */
export async function withTeam<T>(
  idOrName: string | undefined,
  run: (ctx: Ctx, team: Team) => Promise<T>,
): Promise<T> {
  return withDatabase(async ({ deps }) => {
    const team = await findTeam(deps, idOrName);
    const ctx: Ctx = { ...deps, teamId: team.id, actor: { kind: "operator" }, requestId: newId() };
    try {
      return await run(ctx, team);
    } catch (error) {
      if (!(error instanceof AppError && error.code === "not_found")) throw error;
      throw new Refusal(
        `${error.message} in team ${team.name}. Name another team by --team; team list shows them.`,
        {
          cause: error,
        },
      );
    }
  });
}

/** Who runs with this data directory, once their database can be reached; null where nobody does. */
export async function findLauncher(dataDir: string): Promise<(Holder & { databaseUrl: string }) | null> {
  for (let waitedMs = 0; ; waitedMs += lookAgainMs) {
    const holder = await findHolder(dataDir);
    if (!holder) return null;
    if (holder.databaseUrl !== null) return { ...holder, databaseUrl: holder.databaseUrl };
    if (waitedMs >= patienceMs) throw inUse(dataDir, holder);
    await wait(lookAgainMs);
  }
}

async function open(settings: Settings, closers: Closers): Promise<Session> {
  if (settings.databaseUrl !== null)
    return connect(await withKeptSecret(settings), settings.databaseUrl, closers);
  const { dataDir } = settings;
  const startedMs = performance.now();
  for (;;) {
    const launcher = await findLauncher(dataDir);
    if (launcher) {
      const session = connect(await withKeptSecret(settings), launcher.databaseUrl, closers);
      await waitUntilFilled(session.deps);
      return session;
    }
    const taken = await takeLock(dataDir, "command line");
    if ("lock" in taken) {
      closers.push(() => taken.lock.release());
      return startEmbedded(settings, closers);
    }
    if (performance.now() - startedMs > patienceMs) throw inUse(dataDir, taken.holder);
  }
}

function connect(settings: Settings, databaseUrl: string, closers: Closers): Session & { built: Built } {
  const built = buildDeps(
    { ...settings, databaseUrl },
    { log: silentLog, applicationName: "posthorn command line", connectionsMax },
  );
  closers.push(() => built.close());
  return { built, deps: built.deps, databaseUrl };
}

/** The secret that the settings do not give is the one that the launcher made and kept, where it has run here. */
async function withKeptSecret(settings: Settings): Promise<Settings> {
  const secret = settings.secret ?? (await readGenerated(settings.dataDir)).secret ?? null;
  return { ...settings, secret };
}

/** The same first start as the launcher's, so that it later finds what it would have made. */
async function startEmbedded(settings: Settings, closers: Closers): Promise<Session> {
  const secrets = await settleSecrets(settings, true);
  const postgres = await startEmbeddedPostgres({ dataDir: settings.dataDir, log: silentLog });
  closers.push(() => postgres.stop());
  const session = connect({ ...settings, secret: secrets.secret }, postgres.url, closers);
  await prepareDatabase(postgres.url, silentLog, AbortSignal.timeout(patienceMs));
  const restDeps = session.built.forRest({ tick: async () => {} });
  await seedInstallation(restDeps, settings, secrets, { isEmbedded: true });
  return session;
}

// Its first start tells the database's address before the tables and the first team are there.
async function waitUntilFilled(deps: Deps): Promise<void> {
  for (let waitedMs = 0; waitedMs < patienceMs; waitedMs += lookAgainMs) {
    const found = await deps.db
      .select({ id: teams.id })
      .from(teams)
      .limit(1)
      .catch((error: unknown) => {
        if (isMissingTable(error)) return [];
        throw error;
      });
    if (found.length > 0) return;
    await wait(lookAgainMs);
  }
}

function isMissingTable(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : null;
  return cause instanceof Error && "code" in cause && cause.code === "42P01";
}

const inUse = (dataDir: string, { pid, purpose }: Holder) =>
  new Refusal(
    `${dataDir} is in use by process ${pid} (${purpose}), whose database cannot be reached. Try again, or end that process.`,
  );
