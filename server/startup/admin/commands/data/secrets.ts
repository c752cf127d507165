import { cli } from "#server/platform/env/cli";
import { readSettings, type Settings } from "#server/platform/env/settings";
import { formerSecretsMax } from "#server/platform/env/values";
import { AppError } from "#server/platform/errors";
import { createKeyring } from "#server/platform/secrets/keyring";
import { createVault } from "#server/platform/secrets/vault";
import { acceptLostSecret, admitKeyring } from "#server/services/secrets/registry";
import { recordResealed, resealStored } from "#server/services/secrets/reseal";
import { activateSecret, isActivationDue, isResealDue } from "#server/services/secrets/rotate";
import { getSecretStatus, linkDays, type SecretStatus } from "#server/services/secrets/status";
import { generatedFileOf, generateSecret, readGenerated, writeGenerated } from "../../../install/generated";
import { asText } from "../../arguments";
import { argument, flag, inDatabase } from "../../command";
import { type Session, withKeptSecret } from "../../connection";
import { type Output, output } from "../../terminal";
import { formatSecrets, formatVariable } from "./secret-variables";

export const secretCommands = {
  status: inDatabase({
    about: "lists the secrets by their ids, what each is still needed for, and which can be removed",
    run: (session, _values, { env }) => describeStatus(session, readSettings(env, "dev")),
  }),

  rotate: inDatabase({
    about: "replaces the secret: generates one, or activates the one that was configured since",
    params: { lost: flag("accepts the configured secret although the former one is lost") },
    run: (session, { lost }, { env }) =>
      lost ? acceptLoss(session) : rotateSecret(session, readSettings(env, "dev")),
  }),

  remove: inDatabase({
    about: "removes a former secret that is no longer needed from the data directory",
    params: {
      id: argument("the id of the secret, as secret status lists it", asText),
      breakLinks: flag("removes it although links in email need it, for example because it leaked"),
    },
    run: (session, { id, breakLinks }, { env }) =>
      removeSecret(session, readSettings(env, "dev"), { id, canBreakLinks: breakLinks }),
  }),
};

async function acceptLoss({ deps }: Session): Promise<Output> {
  if (!deps.keyring.isRejected())
    throw new AppError(
      "conflict",
      "The configured secret is that of the database, or the former one is configured.",
    );
  await acceptLostSecret(deps);
  const lost = "relays, callbacks, DKIM keys, webhook secrets and authenticator apps";
  return output(
    { is_active: true, secret_id: deps.keyring.given.id },
    "The configured secret is now that of this database.",
    `What was encrypted with the lost one cannot be read: set up ${lost} again. Links in earlier email do not work.`,
  );
}

async function rotateSecret(session: Session, settings: Settings): Promise<Output> {
  const { deps } = session;
  deps.keyring.requireUsable();
  // Other commands only check the secrets. A rotation records them, also in a database that no process has
  // used yet.
  await admitKeyring(deps);
  if (await isActivationDue(deps)) {
    await activateSecret(deps);
    return resealNow(session, settings);
  }
  // The previous call was interrupted, or processes still had time to encrypt with the former secret.
  if (await isResealDue(deps)) return resealNow(session, settings);
  const { secret: current, oldSecrets: former, dataDir } = await withKeptSecret(settings);
  await requireRoom(session, former);
  if (current === null) throw new AppError("conflict", "No secret was generated here. Start Backstamp once.");
  const [secret, oldSecrets] = [generateSecret(), [current, ...former]];
  if (settings.secret !== null) return describeVariables(secret, oldSecrets);
  // Written first: a secret that is active must not exist in memory only.
  await writeGenerated(dataDir, { ...(await readGenerated(dataDir)), secret, oldSecrets });
  if (session.migrated !== null) {
    const keyring = createKeyring([secret, ...oldSecrets]);
    // This command started the database, so no other process uses it.
    await activateSecret({ hot: deps.hot, keyring }, { isAlone: true });
    return resealNow({ ...session, deps: { ...deps, keyring, vault: createVault(keyring) } }, settings);
  }
  const file = generatedFileOf(dataDir);
  const next =
    settings.databaseUrl === null
      ? "Restart Backstamp. The new secret then becomes active, and what is stored is encrypted with it."
      : `Restart every process that uses this data directory. Then run: ${cli} secret rotate`;
  return output(
    { is_active: false, file },
    `A new secret was written to ${file}. The former one is kept there. Back up the file.`,
    next,
  );
}

function describeVariables(secret: string, oldSecrets: readonly string[]): Output {
  const variables = { BACKSTAMP_SECRET: secret, BACKSTAMP_SECRETS_OLD: formatSecrets(oldSecrets) };
  return output(
    { is_active: false, variables },
    "Set these variables for every process: web, workers and command line. The new secret is shown only once.",
    "",
    ...Object.entries(variables).map(([name, value]) => formatVariable(name, value)),
    "",
    "Restart all processes. Until the next step they use the former secret, so the order does not matter.",
    `Then run: ${cli} secret rotate`,
  );
}

async function resealNow(session: Session, settings: Settings): Promise<Output> {
  const { resealed, unreadable, unreadableRows, isComplete } = await resealStored(session.deps);
  if (isComplete) await recordResealed(session.deps, session.deps.keyring.active().id);
  const status = await describeStatus(session, settings);
  const values = (count: number) => `${count} stored value${count === 1 ? "" : "s"}`;
  return output(
    {
      is_active: true,
      resealed,
      unreadable,
      unreadable_rows: unreadableRows,
      is_complete: isComplete,
      ...status.json,
    },
    `The new secret is active. ${values(resealed)} encrypted with it.`,
    ...(isComplete ? [] : ["Other processes were changing some values. Workers encrypt the rest."]),
    ...(unreadable > 0
      ? [
          `${values(unreadable)} cannot be opened with any configured secret. Set them again:`,
          ...unreadableRows.map(({ table, id }) => `  ${table} ${id}`),
          ...(unreadable > unreadableRows.length ? ["  and others"] : []),
        ]
      : []),
    "",
    ...(status.text ?? []),
  );
}

async function describeStatus({ deps }: Session, settings: Settings): Promise<Output> {
  deps.keyring.requireUsable();
  const { secrets, unnamed } = await getSecretStatus(deps, deps.clock());
  const describeConfigured = ({ position }: SecretStatus): string | null => {
    if (position === null) return null;
    if (settings.secret === null) return position === 0 ? "secret" : `oldSecrets, entry ${position}`;
    return position === 0 ? "BACKSTAMP_SECRET" : `BACKSTAMP_SECRETS_OLD, entry ${position}`;
  };
  const data = secrets.map((secret) => ({
    id: secret.id,
    state: secret.state,
    configured_as: describeConfigured(secret),
    active_from: secret.activeFrom,
    active_until: secret.activeUntil,
    stored_values: secret.values,
    has_queued_email: secret.hasQueued,
    links_until: secret.linksUntil,
    is_removable: secret.isRemovable,
  }));
  const text = secrets.map(
    (secret) =>
      `${secret.id}  ${secret.state}, ${describeConfigured(secret) ?? "not configured"}: ${describe(secret)}`,
  );
  const notes = [
    ...(secrets.some(({ state }) => state === "waiting")
      ? [`Run ${cli} secret rotate to activate the waiting secret.`]
      : []),
    ...(unnamed > 0
      ? [`${unnamed} stored values do not name their secret yet. Workers add it within a minute.`]
      : []),
  ];
  return output({ data, unnamed_values: unnamed }, ...text, ...notes);
}

function describe({ state, position, values, hasQueued, linksUntil, isRemovable }: SecretStatus): string {
  const stored = values.map(({ name, count }) => `${count} ${name}`).join(", ");
  if (state === "current") return `encrypts and signs; ${stored || "nothing stored"}.`;
  if (state === "waiting" && !stored) return "not active yet.";
  if (isRemovable) return "no longer needed. Remove it.";
  if (state === "lost" && position === null)
    return stored ? `only it opens stored values (${stored}). Set them again.` : "no longer needed.";
  const needs = [
    ...(stored ? [`stored values (${stored})`] : []),
    ...(hasQueued ? ["email that is queued"] : []),
  ];
  if (needs.length > 0) return `needed for ${needs.join(" and ")}.`;
  if (position === null) return "was removed.";
  const day = linksUntil?.slice(0, 10);
  return `needed until ${day} for links in email that it signed (${linkDays} days). If it is removed earlier, these links stop working.`;
}

/** Throws AppError `conflict` if another rotation would exceed the number of former secrets. */
async function requireRoom({ deps }: Session, former: readonly string[]): Promise<void> {
  if (former.length < formerSecretsMax) return;
  const { secrets } = await getSecretStatus(deps, deps.clock());
  const removable = secrets.filter(({ isRemovable }) => isRemovable);
  const breakable = secrets.filter(({ isOnlyForLinks }) => isOnlyForLinks);
  const ids = (found: SecretStatus[]) => found.map(({ id }) => id).join(", ");
  const remedy =
    removable.length > 0
      ? `Remove one that is no longer needed: ${ids(removable)}.`
      : breakable.length > 0
        ? `Only links need ${ids(breakable)}. Remove one with secret remove ID --break-links.`
        : "Remove one as soon as secret status lists nothing but links for it.";
  throw new AppError("conflict", `There are ${former.length} former secrets, the maximum. ${remedy}`);
}

async function removeSecret(
  { deps }: Session,
  settings: Settings,
  { id, canBreakLinks }: { id: string; canBreakLinks: boolean },
): Promise<Output> {
  deps.keyring.requireUsable();
  const { secrets } = await getSecretStatus(deps, deps.clock());
  const found = secrets.find((secret) => secret.id === id && secret.position !== null);
  if (!found) throw new AppError("not_found", `No configured secret has the id ${id}. Run secret status.`);
  if (!found.isRemovable && !(canBreakLinks && found.isOnlyForLinks)) {
    const remedy = found.isOnlyForLinks ? " If it leaked, remove it with --break-links." : "";
    throw new AppError("conflict", `${id} cannot be removed: ${describe(found)}${remedy}`);
  }
  if (settings.secret !== null)
    throw new AppError(
      "conflict",
      `The secrets are configured. Remove entry ${found.position} of BACKSTAMP_SECRETS_OLD and restart all processes.`,
    );
  const kept = await readGenerated(settings.dataDir);
  const secret = deps.keyring.find(id)?.secret;
  const oldSecrets = (kept.oldSecrets ?? []).filter((old) => old !== secret);
  await writeGenerated(settings.dataDir, { ...kept, oldSecrets });
  return output({ id, is_removed: true }, `Removed the secret ${id}.`);
}
