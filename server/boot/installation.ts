import { setTimeout as wait } from "node:timers/promises";
import type { RestDeps } from "#server/deps";
import type { Settings } from "#server/env";
import { type Generated, makePassword, makeSecret, readGenerated, writeGenerated } from "./generated";
import { takeLock } from "./lock";
import { Refusal } from "./refusal";
import { seedDatabase } from "./seed";

/**
 * The secrets in force, be they given or generated. Of a first user's password there is none where a configured database is
 * to be served: who may be the first is told by a code then.
 */
export type Secrets = { secret: string; adminPassword: string | null; firstKeyToken: string | null };

const lockPatienceMs = 10_000;

/** Takes the secrets from the settings or the data directory, and makes and keeps those that are in neither. */
export async function settleSecrets(settings: Settings, holdsLock: boolean): Promise<Secrets> {
  const kept = await readGenerated(settings.dataDir);
  const makesPassword =
    settings.adminPassword === null && (settings.databaseUrl === null || settings.mode === "dev");
  const isMissing = (!settings.secret && !kept.secret) || (makesPassword && !kept.adminPassword);
  const generated = isMissing
    ? await change(settings.dataDir, holdsLock, (now) => ({
        ...now,
        ...(settings.secret ? {} : { secret: now.secret ?? makeSecret() }),
        ...(makesPassword ? { adminPassword: now.adminPassword ?? makePassword() } : {}),
      }))
    : kept;
  return {
    secret: settings.secret ?? generated.secret ?? "",
    adminPassword: settings.adminPassword ?? generated.adminPassword ?? null,
    firstKeyToken: generated.firstKeyToken ?? null,
  };
}

/**
 * Fills the database where it is empty, and makes a first key where the kept one works no more and somebody at a
 * terminal is to try it out. Returns the token of a key that works, or null.
 */
export async function seedInstallation(
  deps: RestDeps,
  settings: Settings,
  secrets: Secrets,
  { isEmbedded }: { isEmbedded: boolean },
): Promise<string | null> {
  const kept = secrets.firstKeyToken;
  const works = kept !== null && (await deps.authenticate(kept)) !== null;
  const wantsKey = !works && (isEmbedded || settings.mode === "dev");
  const { token } = await seedDatabase(deps, {
    adminEmail: settings.adminEmail,
    adminPassword: secrets.adminPassword,
    wantsKey,
  });
  if (token) {
    await change(settings.dataDir, isEmbedded, (now) => ({ ...now, firstKeyToken: token }));
    return token;
  }
  return works ? kept : null;
}

// Two web processes over one database may share a data directory, so each change is made under its lock.
async function change(
  dataDir: string,
  holdsLock: boolean,
  next: (now: Generated) => Generated,
): Promise<Generated> {
  const lock = holdsLock ? null : await waitForLock(dataDir);
  try {
    const generated = next(await readGenerated(dataDir));
    await writeGenerated(dataDir, generated);
    return generated;
  } finally {
    await lock?.release();
  }
}

async function waitForLock(dataDir: string) {
  for (let waitedMs = 0; ; waitedMs += 50) {
    const taken = await takeLock(dataDir, "secrets");
    if ("lock" in taken) return taken.lock;
    if (waitedMs > lockPatienceMs)
      throw new Refusal(`${dataDir} is in use by process ${taken.holder.pid} (${taken.holder.purpose}).`);
    await wait(50);
  }
}
