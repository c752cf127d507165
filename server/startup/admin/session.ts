import { setTimeout as wait } from "node:timers/promises";
import { isSchemaMissing } from "#db/faults";
import { teams } from "#db/schema/teams";
import type { Ctx, Deps } from "#server/deps";
import { readSettings } from "#server/platform/env/settings";
import { AppError } from "#server/platform/errors";
import { newId } from "#server/platform/ids";
import { checkKeyring } from "#server/services/secrets/registry";
import { findTeam } from "#server/services/teams";
import type { Team } from "#server/shared/wire/people/team";
import { acquireLock } from "../launcher/lock";
import { OperatorError } from "../launcher/operator-error";
import { hasEmbeddedDatabase } from "../postgres/cluster-location";
import {
  areSecretsAccepted,
  type Closers,
  connect,
  findDatabase,
  inUse,
  modeOf,
  pollMs,
  type Session,
  waitMaxMs,
  withKeptSecret,
  withOpened,
} from "./connection";
import type { Terminal } from "./terminal";

/**
 * Runs one command with a database: the configured one, else that of the running Backstamp with this data
 * directory, else the embedded one, which is started for this command and stopped afterwards. `isUnchanged`:
 * a stopped embedded database is used as it is, and nothing is created or migrated.
 */
export const withDatabase = <T>(
  terminal: Terminal,
  run: (session: Session) => Promise<T>,
  isUnchanged = false,
): Promise<T> => withOpened(terminal, (closers) => open(terminal.env, closers, isUnchanged), run);

/** The context of services for one team, with the operator as the actor. */
export const operatorCtx = (deps: Deps, teamId: string): Ctx => ({ ...operatorOf(deps), teamId });

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

async function open(env: Terminal["env"], closers: Closers, isUnchanged: boolean): Promise<Session> {
  const settings = { ...readSettings(env, "dev"), mode: modeOf(env) };
  const { dataDir } = settings;
  const startedMs = performance.now();
  for (;;) {
    const found = await findDatabase(settings, env);
    if (found) {
      const session = connect(await withKeptSecret(settings), found, closers);
      if (settings.databaseUrl === null) await waitUntilFilled(session.deps);
      if (session.hasSecret) await areSecretsAccepted(checkKeyring(session.deps));
      return session;
    }
    if (isUnchanged && !(await hasEmbeddedDatabase(dataDir)))
      throw new OperatorError(
        `${dataDir} contains no database. Set DATABASE_URL or BACKSTAMP_DATA_DIR as the installation has it.`,
      );
    const taken = await acquireLock(dataDir, "command line");
    if ("lock" in taken) {
      closers.push(() => taken.lock.release());
      const { startEmbedded } = await import("./embedded-session");
      return startEmbedded(settings, closers, isUnchanged);
    }
    if (performance.now() - startedMs > waitMaxMs) throw inUse(dataDir, taken.holder);
  }
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
