import type { Settings } from "#server/platform/env/settings";
import { silentLog } from "#server/platform/log";
import { admitKeyring } from "#server/services/secrets/registry";
import { activateSecret, isActivationDue } from "#server/services/secrets/rotate";
import { resolveSecrets, seedInstallation } from "../install/installation";
import { prepareDatabase } from "../install/prepare-database";
import { startEmbeddedPostgres } from "../postgres/embedded";
import {
  areSecretsAccepted,
  type Closers,
  connect,
  type Session,
  waitMaxMs,
  withKeptSecret,
} from "./connection";

/**
 * Starts the embedded database for a command, in its own module because most commands find a running one.
 * Unless the database is used unchanged, it performs the launcher's first-time setup. A later launcher finds
 * it complete.
 */
export async function startEmbedded(
  settings: Settings & { mode: "dev" | "start" },
  closers: Closers,
  isUnchanged: boolean,
): Promise<Session> {
  const { dataDir, mode, url: publicUrl } = settings;
  const secrets = isUnchanged ? await withKeptSecret(settings) : await resolveSecrets(settings, true);
  const postgres = await startEmbeddedPostgres({ dataDir, log: silentLog });
  closers.push(() => postgres.stop());
  const { secret, oldSecrets } = secrets;
  const found = { databaseUrl: postgres.url, publicUrl, mode };
  const session = connect({ ...settings, secret, oldSecrets }, found, closers);
  if (!("firstKeyToken" in secrets)) return session;
  const migrated = await prepareDatabase(postgres.url, silentLog, AbortSignal.timeout(waitMaxMs));
  // No other process uses the database.
  if ((await areSecretsAccepted(admitKeyring(session.deps))) && (await isActivationDue(session.deps)))
    await activateSecret(session.deps, { isAlone: true });
  const restDeps = session.built.forRest({ tick: async () => {} });
  await seedInstallation(restDeps, settings, secrets, { isEmbedded: true });
  return { ...session, migrated };
}
