import { setTimeout as wait } from "node:timers/promises";
import type { RestDeps } from "#server/deps";
import type { Settings } from "#server/platform/env/settings";
import { acquireLock } from "../launcher/lock";
import { OperatorError } from "../launcher/operator-error";
import {
  type Generated,
  generatePassword,
  generateSecret,
  oldSecretsOf,
  readGenerated,
  writeGenerated,
} from "./generated";
import { seedDatabase } from "./seed";

/**
 * The configured or generated secrets. With a configured database in production, no password is generated: a
 * code creates the first user instead.
 */
export type Secrets = {
  secret: string;
  /** Former secrets, the newest first. */
  oldSecrets: string[];
  adminPassword: string | null;
  firstKeyToken: string | null;
};

const lockWaitMaxMs = 10_000;

/** Reads the secrets from the settings or the data directory. Generates and stores the missing ones. */
export async function resolveSecrets(settings: Settings, holdsLock: boolean): Promise<Secrets> {
  const kept = await readGenerated(settings.dataDir);
  const makesPassword =
    settings.adminPassword === null && (settings.databaseUrl === null || settings.mode === "dev");
  const isMissing = (!settings.secret && !kept.secret) || (makesPassword && !kept.adminPassword);
  const generated = isMissing
    ? await changeGenerated(settings.dataDir, holdsLock, (now) => ({
        ...now,
        ...(settings.secret ? {} : { secret: now.secret ?? generateSecret() }),
        ...(makesPassword ? { adminPassword: now.adminPassword ?? generatePassword() } : {}),
      }))
    : kept;
  return {
    secret: settings.secret ?? generated.secret ?? "",
    oldSecrets: oldSecretsOf(settings, generated),
    adminPassword: settings.adminPassword ?? generated.adminPassword ?? null,
    firstKeyToken: generated.firstKeyToken ?? null,
  };
}

/**
 * Seeds an empty database. Creates a first key if the stored one is no longer valid and the database is
 * embedded or the mode is dev. Returns the token of a valid key, or null.
 */
export async function seedInstallation(
  deps: RestDeps,
  settings: Settings,
  secrets: Secrets,
  { isEmbedded }: { isEmbedded: boolean },
): Promise<string | null> {
  const kept = secrets.firstKeyToken;
  const isValid = kept !== null && (await deps.authenticate(kept)) !== null;
  const wantsKey = !isValid && (isEmbedded || settings.mode === "dev");
  const { token } = await seedDatabase(deps, {
    adminEmail: settings.adminEmail,
    adminPassword: secrets.adminPassword,
    wantsKey,
  });
  if (token) {
    await changeGenerated(settings.dataDir, isEmbedded, (now) => ({ ...now, firstKeyToken: token }));
    return token;
  }
  return isValid ? kept : null;
}

/**
 * Changes the stored secrets. Two web processes with one database can share a data directory, so each change
 * is made under its lock.
 */
export async function changeGenerated(
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
    const taken = await acquireLock(dataDir, "secrets");
    if ("lock" in taken) return taken.lock;
    if (waitedMs > lockWaitMaxMs)
      throw new OperatorError(
        `${dataDir} is in use by process ${taken.holder.pid} (${taken.holder.purpose}).`,
      );
    await wait(50);
  }
}
