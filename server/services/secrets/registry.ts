import type { HotSql } from "#db/client";
import { isSchemaMissing } from "#db/faults";
import type { Deps } from "#server/deps";
import {
  createKeyring,
  type Keyring,
  type Period,
  type RingKey,
  SecretRejectedError,
} from "#server/platform/secrets/keyring";
import { SEALED_COLUMNS } from "#server/platform/secrets/sealed-columns";
import { deriveKey } from "#server/platform/secrets/secrets";
import { createVault } from "#server/platform/secrets/vault";
import { canOpen, countValues, listValues } from "./stored-values";

/** Locks the registry for a transaction. Any number that no other lock of ours has. */
const REGISTRY_LOCK = 7_305_119;
/**
 * A process that was not restarted for a rotation still encrypts with the former secret, so workers repeat
 * the check.
 */
const checkedEveryMinutes = 60;
/** Values of each column that are opened to find the secret of a database without a registry. */
const samplesPerColumn = 20;

export type RegistryDeps = Pick<Deps, "hot" | "keyring">;
type Query = Pick<HotSql, "unsafe">;

/** A secret that is recorded in the database. Times in ms since the epoch. */
export type RegisteredSecret = {
  id: string;
  checkValue: string;
  activeFromMs: number | null;
  isResealed: boolean;
  /** Everything was stored with it, but longer ago than `checkedEveryMinutes`. */
  isCheckDue: boolean;
  /** The operator accepted that it is lost. */
  isLost: boolean;
};

/** The registered secrets, those that were active by their time. */
export const listRegisteredSecrets = (query: Query): Promise<RegisteredSecret[]> =>
  query.unsafe<RegisteredSecret[]>(`
    select id, check_value as "checkValue", (extract(epoch from active_from) * 1000)::float8 as "activeFromMs",
      resealed_at is not null as "isResealed",
      resealed_at < now() - interval '${checkedEveryMinutes} min' as "isCheckDue", active_from is null and resealed_at is not null as "isLost"
    from installation_secrets order by active_from nulls last, created_at`);

/** The registered secret that seals and signs. */
export const findActive = (registry: readonly RegisteredSecret[]): RegisteredSecret | null =>
  registry.findLast(({ activeFromMs }) => activeFromMs !== null) ?? null;

/** Runs `change` while no other process changes the registry. */
export const changeRegistry = <T>(hot: HotSql, change: (tx: HotSql) => Promise<T>): Promise<T> =>
  hot.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(${REGISTRY_LOCK})`;
    return change(tx as unknown as HotSql);
  }) as Promise<T>;

/**
 * Checks that the configured secrets are those of the database, and learns which one is active. The first
 * start registers the secret. Throws SecretRejectedError if they are not, and from then on the keyring
 * refuses every use. A database without tables passes, because nothing is stored in it.
 */
export const admitKeyring = ({ hot, keyring }: RegistryDeps): Promise<void> =>
  admitIfKnown(keyring, async () => {
    let registry = await listRegisteredSecrets(hot);
    if (!registry.some(({ id }) => id === keyring.given.id)) {
      await changeRegistry(hot, (tx) => register(tx, keyring));
      registry = await listRegisteredSecrets(hot);
    }
    await requireKnown(hot, keyring, registry);
    return periodsOf(registry);
  });

/**
 * Checks the configured secrets as `admitKeyring` does, without a change of the database: a command must not
 * decide which secret a new installation has. While neither a process nor a stored value has decided it,
 * nothing can be encrypted.
 */
export const checkKeyring = ({ hot, keyring }: RegistryDeps): Promise<void> =>
  admitIfKnown(keyring, async () => {
    const registry = await listRegisteredSecrets(hot);
    if (registry.length === 0) {
      const owner = await findOwner(hot, keyring);
      return owner && [{ keyId: owner.id, fromMs: 0 }];
    }
    await requireKnown(hot, keyring, registry);
    return periodsOf(registry);
  });

async function admitIfKnown(keyring: Keyring, readPeriods: () => Promise<Period[] | null>): Promise<void> {
  try {
    const periods = await readPeriods();
    if (periods) keyring.admit(periods);
  } catch (error) {
    if (isSchemaMissing(error)) return;
    if (error instanceof SecretRejectedError) keyring.reject(error);
    throw error;
  }
}

/**
 * Learns which secret is active now. A process that does not have it continues with those that it has. Until
 * the database has admitted the secrets, it checks them as `admitKeyring` does.
 */
export async function refreshKeyring(
  deps: RegistryDeps,
): Promise<{ active: RegisteredSecret | null; isKnown: boolean }> {
  const { hot, keyring } = deps;
  if (!keyring.isChecked()) await admitKeyring(deps);
  const registry = await listRegisteredSecrets(hot);
  keyring.admit(periodsOf(registry));
  const active = findActive(registry);
  return { active, isKnown: active === null || keyring.find(active.id) !== null };
}

/** Learns which secret is active, without a change of the database: no secret is registered. */
export async function learnActiveSecret({ hot, keyring }: RegistryDeps): Promise<void> {
  keyring.admit(periodsOf(await listRegisteredSecrets(hot)));
}

/** What the operator does where a process does not have the active secret. */
export const UNKNOWN_SECRET =
  "The active secret of this installation is not configured in this process. Restart it with that secret as BACKSTAMP_SECRET.";

const periodsOf = (registry: readonly RegisteredSecret[]) =>
  registry.flatMap(({ id, activeFromMs }) =>
    activeFromMs === null ? [] : [{ keyId: id, fromMs: activeFromMs }],
  );

/**
 * Adds the configured secret. In an empty registry, the secret that the stored values were encrypted with
 * becomes active.
 */
async function register(tx: HotSql, keyring: Keyring): Promise<void> {
  const registry = await listRegisteredSecrets(tx);
  if (registry.length === 0) {
    const owner = (await findOwner(tx, keyring)) ?? keyring.given;
    await tx`
      insert into installation_secrets (id, check_value, active_from)
      values (${owner.id}, ${checkValueOf(owner)}, to_timestamp(0))`;
  } else await requireKnown(tx, keyring, registry);
  const { given } = keyring;
  await tx`
    insert into installation_secrets (id, check_value) values (${given.id}, ${checkValueOf(given)})
    on conflict (id) do nothing`;
}

/**
 * Makes the configured secret the active one of a database whose secret is lost. Values that it does not open
 * stay, and must be set again. The secrets that are not configured are recorded as lost, so that no later
 * rotation requires them.
 */
export async function acceptLostSecret({ hot, keyring: { given, keys } }: RegistryDeps): Promise<void> {
  await changeRegistry(hot, async (tx) => {
    await tx`
      insert into installation_secrets (id, check_value, active_from, resealed_at)
      values (${given.id}, ${checkValueOf(given)}, now(), now())
      on conflict (id) do update set active_from = now(), resealed_at = now()`;
    await tx`
      update installation_secrets set active_from = null, resealed_at = coalesce(resealed_at, now())
      where active_from is not null and id <> all (${keys.map(({ id }) => id)}::text[])`;
  });
}

const checkValueOf = ({ secret }: RingKey): string => deriveKey(secret, "key-check");

async function requireKnown(
  query: HotSql,
  keyring: Keyring,
  registry: readonly RegisteredSecret[],
): Promise<void> {
  const active = findActive(registry);
  if (active === null) return;
  const key = keyring.find(active.id);
  if (key === null || checkValueOf(key) !== active.checkValue) throw rejected();
  const lacking = registry.filter(({ activeFromMs, id }) => activeFromMs !== null && !keyring.find(id));
  if (active.isResealed || lacking.length === 0) return;
  const counts = await countValues(query);
  if (lacking.some(({ id }) => counts.some(({ secretId }) => secretId === id)))
    throw new SecretRejectedError(
      "Stored values are still encrypted with a former secret that is not configured. Add it to BACKSTAMP_SECRETS_OLD " +
        "until `backstamp secret status` lists it as removable.",
    );
}

// Without the ids: readiness and Vercel's pages show the message to everybody.
const rejected = () =>
  new SecretRejectedError(
    "BACKSTAMP_SECRET is not the secret of this database. Set it to the secret that this database was used with. To use a " +
      "new secret, keep it, and set BACKSTAMP_SECRETS_OLD to the former one. The former one is in the settings or the backup " +
      "of the installation; a generated one is in secrets.json of the data directory. If it is lost: `secret rotate --lost`.",
  );

/** The secret that opens stored values; null if nothing is stored. */
async function findOwner(query: HotSql, keyring: Keyring): Promise<RingKey | null> {
  const vaults = keyring.keys.map((key) => ({ key, vault: createVault(createKeyring([key.secret])) }));
  let isEmpty = true;
  for (const column of SEALED_COLUMNS)
    for (const { value, ...row } of await listValues(query, column, { limit: samplesPerColumn })) {
      isEmpty = false;
      const opener = vaults.find(({ vault }) => canOpen(vault, value, column.locationOf(row)));
      if (opener) return opener.key;
    }
  if (isEmpty) return null;
  throw rejected();
}
