import { expect, test } from "vitest";
import type { RestDeps } from "#server/deps";
import { newId } from "#server/platform/ids";
import { createKeyring, SecretRejectedError } from "#server/platform/secrets/keyring";
import { SEALED_COLUMNS } from "#server/platform/secrets/sealed-columns";
import { createVault, keyIdOfSealed } from "#server/platform/secrets/vault";
import { startTotp } from "#server/services/account/factors/totp";
import { setCallback } from "#server/services/callbacks/secrets";
import { DkimKeyUnreadable, keysAt, listSigningKeys } from "#server/services/domains/dkim/signing-keys";
import { createDomain } from "#server/services/domains/write";
import { getReadiness } from "#server/services/health";
import { insertUser } from "#server/services/people/users";
import { addRelay } from "#server/services/relays/write";
import { acceptLostSecret, admitKeyring, refreshKeyring } from "#server/services/secrets/registry";
import { maintainSecrets, resealStored } from "#server/services/secrets/reseal";
import { activateSecret, isActivationDue } from "#server/services/secrets/rotate";
import { getSecretStatus } from "#server/services/secrets/status";
import { listValues } from "#server/services/secrets/stored-values";
import { queueSystemEmail } from "#server/services/system-mail/queue";
import { createWebhook, rotateSigningSecret } from "#server/services/webhooks/endpoints";
import { installationSecret } from "../../support/deps";
import { forEachTest } from "../../support/fixtures";
import { foreignSecret, idOf, newSecret, openRingWorld } from "./ring-world";

const NONE_UNREADABLE = { unreadable: 0, unreadableRows: [], isComplete: true };

const world = forEachTest(openRingWorld);

/** Stores a value of each kind. Returns the id of the endpoint. */
async function storeEachKind(): Promise<string> {
  const { deps, ctx } = world;
  const relay = await addRelay(deps, {
    teamId: null,
    domainId: null,
    name: "main",
    url: "smtp://user:password@smtp.example.com:587",
    provider: "postmark",
  });
  await setCallback(deps, relay, {});
  const { id } = await createWebhook(ctx, {
    url: "https://127.0.0.1/hook",
    events: ["email.sent"],
    status: "enabled",
  });
  await rotateSigningSecret(ctx, id);
  await createDomain(ctx, { name: "signed.example" });
  const person = { id: newId(), email: "cleo@example.com", name: null, passwordHash: "none" };
  const user = await insertUser(deps.db, person, { isAddressVerified: true });
  await startTotp(deps, { userId: user.id, email: user.email, host: "localhost" });
  await queueSystemEmail(deps.db, deps, {
    kind: "sign_in_link",
    to: user.email,
    details: { landing: "/console", device: null },
  });
  return id;
}

/** Every encrypted text in the database, found by its form in all text columns. */
async function sealedTexts(): Promise<{ location: string; value: string }[]> {
  sealedIn ??= await world.hot<{ table: string; column: string }[]>`
    select table_name as table, column_name as column from information_schema.columns
    where table_schema = 'public' and data_type = 'text'
      and table_name not in (select relname from pg_class where relispartition)`;
  const parts = sealedIn.map(
    ({ table, column }) =>
      `select '${table}.${column}' as location, "${column}" as value from "${table}" where "${column}" like 'k1.%'`,
  );
  return world.hot.unsafe(parts.join(" union all "), [], { prepare: true });
}
let sealedIn: { table: string; column: string }[] | undefined;

/** Opens every stored value. Throws if one does not open. */
async function openAll(...secrets: [string, ...string[]]): Promise<string[]> {
  const vault = createVault(createKeyring(secrets));
  const opened: string[] = [];
  for (const column of SEALED_COLUMNS)
    for (const { value, ...row } of await listValues(world.hot, column, { limit: 1_000 }))
      opened.push(vault.open(value, column.locationOf(row)));
  return opened;
}

test("a rotation encrypts every stored value with the new secret, and the former one is then not needed for them", async () => {
  await storeEachKind();
  const before = await openAll(installationSecret);
  const kinds = new Set((await sealedTexts()).map(({ location }) => location));
  expect([...kinds].sort()).toEqual(SEALED_COLUMNS.map(({ table, column }) => `${table}.${column}`).sort());

  const process = world.processWith(newSecret, installationSecret);
  await admitKeyring(process);
  await activateSecret(process);
  expect(await resealStored(process)).toEqual({ ...NONE_UNREADABLE, resealed: before.length });
  const after = await sealedTexts();
  expect(after).toHaveLength(before.length);
  expect(new Set(after.map(({ value }) => keyIdOfSealed(value)))).toEqual(new Set([idOf(newSecret)]));
  expect(await openAll(newSecret)).toEqual(before);
  expect(await resealStored(process)).toEqual({ ...NONE_UNREADABLE, resealed: 0 });
});

test("until the activation, processes with both secrets encrypt so that those with the former one can read it", async () => {
  const restarted = world.processWith(newSecret, installationSecret);
  await admitKeyring(restarted);
  const location = { table: "t", column: "c", id: "1", teamId: "" };
  expect(world.deps.vault.open(restarted.vault.seal("text", location), location)).toBe("text");
  await activateSecret(restarted);
  const sealed = restarted.vault.seal("text", location);
  expect(keyIdOfSealed(sealed)).toBe(idOf(newSecret));
  const another = world.processWith(newSecret, installationSecret);
  await refreshKeyring(another);
  expect(another.vault.open(sealed, location)).toBe("text");
  expect(() => another.vault.open(sealed, { ...location, teamId: "2" })).toThrow();
  expect(() => world.deps.vault.open(sealed, location)).toThrow(/BACKSTAMP_SECRETS_OLD/);
});

test("values of release 0.2.0, which name no secret, are readable, and get the id of their secret", async () => {
  await storeEachKind();
  const before = await openAll(installationSecret);
  for (const { table, column } of SEALED_COLUMNS)
    await world.hot.unsafe(
      `update ${table} set ${column} = regexp_replace(${column}, '\\.[0-9a-f]{16}$', '') where ${column} is not null`,
    );
  expect(new Set((await sealedTexts()).map(({ value }) => keyIdOfSealed(value)))).toEqual(new Set([null]));
  expect(await openAll(foreignSecret, installationSecret)).toEqual(before);
  await maintainSecrets(world.deps, () => true);
  expect(new Set((await sealedTexts()).map(({ value }) => keyIdOfSealed(value)))).toEqual(
    new Set([idOf(installationSecret)]),
  );
  expect(await openAll(installationSecret)).toEqual(before);
});

test("values that no configured secret opens are kept and reported, and the others are encrypted again", async () => {
  await storeEachKind();
  await world.hot`update totp_factors set secret = 'k1.AAAA.0000000000000000'`;
  const process = world.processWith(newSecret, installationSecret);
  await admitKeyring(process);
  await activateSecret(process);
  const [factor] = await world.hot<{ id: string }[]>`select user_id as id from totp_factors`;
  expect(await resealStored(process)).toMatchObject({
    unreadable: 1,
    unreadableRows: [{ table: "totp_factors", id: factor?.id }],
    isComplete: true,
  });
  expect(await world.hot`select secret from totp_factors`).toEqual([{ secret: "k1.AAAA.0000000000000000" }]);
});

test("an endpoint's secret that changes during the work is never overwritten", async () => {
  const id = await storeEachKind();
  const process = world.processWith(newSecret, installationSecret);
  await admitKeyring(process);
  await activateSecret(process);
  let isDone = false;
  const resealing = (async () => {
    while (!isDone) await resealStored(process);
  })();
  let last = "";
  for (let round = 0; round < 4; round++) {
    ({ signingSecret: last } = await rotateSigningSecret(
      { ...world.ctx, ...(round % 2 === 0 ? { vault: process.vault } : { vault: processVaultOf(process) }) },
      id,
    ));
  }
  isDone = true;
  await resealing;
  await resealStored(process);
  const [row] = await world.hot<{ secret: string }[]>`select secret from webhooks where id = ${id}`;
  const location = { table: "webhooks", column: "secret", id, teamId: world.id };
  expect(process.vault.open(row?.secret ?? "", location)).toBe(last);
  expect(keyIdOfSealed(row?.secret ?? "")).toBe(idOf(newSecret));
});

/** A process with both secrets that has not learned of the activation yet. */
function processVaultOf(process: RestDeps) {
  const secrets = process.keyring.keys.map(({ secret }) => secret).reverse() as [string, ...string[]];
  const keyring = createKeyring(secrets);
  keyring.admit([]);
  return createVault(keyring);
}

test("a row that another transaction changes is encrypted after it", async () => {
  await storeEachKind();
  const process = world.processWith(newSecret, installationSecret);
  await admitKeyring(process);
  await activateSecret(process);
  let resealing: Promise<unknown> | undefined;
  await world.hot.begin(async (tx) => {
    await tx`update relays set position = 7`;
    resealing = resealStored(process);
    await expect
      .poll(
        async () =>
          (await sealedTexts()).filter(({ value }) => keyIdOfSealed(value) !== idOf(newSecret)).length,
        { timeout: 30_000 },
      )
      .toBe(2);
  });
  expect(await resealing).toMatchObject({ isComplete: true });
  expect(await world.hot`select position from relays`).toEqual([{ position: 7 }]);
  expect(new Set((await sealedTexts()).map(({ value }) => keyIdOfSealed(value)))).toEqual(
    new Set([idOf(newSecret)]),
  );
});

test("a worker without the new secret prevents its activation, until it has stopped", async () => {
  const process = world.processWith(newSecret, installationSecret);
  await admitKeyring(process);
  const id = "018f0000-0000-7000-8000-00000000000a";
  await world.hot`insert into workers (id, host, pid, transport, secret_ids)
    values (${id}, 'mail2', 4711, 'relay', ${[idOf(installationSecret)]}::text[])`;
  await expect(activateSecret(process)).rejects.toThrow(/mail2 \(process 4711\).*Restart/);
  expect((await refreshKeyring(process)).active?.id).toBe(idOf(installationSecret));
  await world.hot`update workers set secret_ids = ${[idOf(installationSecret), idOf(newSecret)]}::text[]`;
  await activateSecret(process);
  expect((await refreshKeyring(process)).active?.id).toBe(idOf(newSecret));
});

test("another secret is refused, also for a copy of the database, until the former one is configured too", async () => {
  await storeEachKind();
  const wrong = world.processWith(foreignSecret);
  await expect(admitKeyring(wrong)).rejects.toThrow(SecretRejectedError);
  await expect(admitKeyring(wrong)).rejects.toThrow(/BACKSTAMP_SECRETS_OLD/);
  const location = { table: "t", column: "c", id: "1", teamId: "" };
  expect(() => wrong.vault.seal("text", location)).toThrow(SecretRejectedError);
  expect(await world.hot`select id from installation_secrets`).toEqual([{ id: idOf(installationSecret) }]);
  await admitKeyring(world.processWith(foreignSecret, installationSecret));
});

test("a database that was used before its secret was recorded is accepted only with the secret of its values", async () => {
  await storeEachKind();
  await world.hot`delete from installation_secrets`;
  await expect(admitKeyring(world.processWith(foreignSecret))).rejects.toThrow(SecretRejectedError);
  expect(await world.hot`select from installation_secrets`).toHaveLength(0);
  const both = world.processWith(newSecret, installationSecret);
  await admitKeyring(both);
  expect(both.keyring.active().id).toBe(idOf(installationSecret));
});

test("a former secret that stored values need is missed at start", async () => {
  await storeEachKind();
  const both = world.processWith(newSecret, installationSecret);
  await admitKeyring(both);
  await activateSecret(both);
  await expect(admitKeyring(world.processWith(newSecret))).rejects.toThrow(
    /former secret that is not configured/,
  );
  await resealStored(both);
  await admitKeyring(world.processWith(newSecret));
});

test("after a secret was accepted as lost, the next rotation does not require it, and endpoints can be repaired", async () => {
  const id = await storeEachKind();
  const accepted = world.processWith(foreignSecret);
  await expect(admitKeyring(accepted)).rejects.toThrow(/secret rotate --lost/);
  await acceptLostSecret(accepted);
  const next = world.processWith(newSecret, foreignSecret);
  await admitKeyring(next);
  await activateSecret(next);
  await admitKeyring(world.processWith(newSecret, foreignSecret));
  const { secrets } = await getSecretStatus(next, world.clock.now());
  expect(secrets.map(({ id, state }) => ({ id, state }))).toEqual([
    { id: idOf(newSecret), state: "current" },
    { id: idOf(foreignSecret), state: "former" },
    { id: idOf(installationSecret), state: "lost" },
  ]);
  const { signingSecret } = await rotateSigningSecret({ ...world.ctx, ...next, teamId: world.id }, id);
  const [row] = await world.hot<{ secret: string; previous: string | null }[]>`
    select secret, previous_secret as previous from webhooks where id = ${id} and previous_until is null`;
  const location = { table: "webhooks", column: "secret", id, teamId: world.id };
  expect(next.vault.open(row?.secret ?? "", location)).toBe(signingSecret);
  expect(row?.previous).toBeNull();
});

test("a retired DKIM key that cannot be opened does not prevent email of its successor from being signed", async () => {
  const { id: domainId } = await createDomain(world.ctx, { name: "signed.example" });
  await world.hot`update dkim_keys set signs_from = '2020-01-01', signs_until = '2021-01-01'`;
  await world.hot`
    insert into dkim_keys (id, team_id, domain_id, algorithm, selector, private_key, public_key, signs_from)
    select gen_random_uuid(), team_id, domain_id, algorithm, 'lost' || selector, 'k1.AAAA.0000000000000000', public_key,
      '2019-01-01' from dkim_keys`;
  await world.hot`update dkim_keys set signs_until = '2020-01-01' where selector like 'lost%'`;
  const keys = await listSigningKeys(world.deps, { teamId: world.id, domainId, domain: "signed.example" });
  expect(keysAt(keys, new Date("2020-06-01")).length).toBeGreaterThan(0);
  expect(() => keysAt(keys, new Date("2019-06-01"))).toThrow(DkimKeyUnreadable);
});

test("a secret that was replaced cannot become current again", async () => {
  const both = world.processWith(newSecret, installationSecret);
  await admitKeyring(both);
  await activateSecret(both);
  const back = world.processWith(installationSecret, newSecret);
  await admitKeyring(back);
  expect(back.keyring.active().id).toBe(idOf(newSecret));
  // With an embedded database, the start activates a secret only if this is due.
  expect(await isActivationDue(back)).toBe(false);
  await expect(activateSecret(back)).rejects.toThrow(/already used and replaced/);
});

test("the status says what a former secret is needed for, and from when it can be removed", async () => {
  await storeEachKind();
  const { id: emailId } = await world.send();
  const both = world.processWith(newSecret, installationSecret);
  await admitKeyring(both);
  const statusOf = async (now = world.clock.now()) =>
    (await getSecretStatus(both, now)).secrets.map(({ id, state, values, hasQueued, isRemovable }) => ({
      name: id === idOf(newSecret) ? "new" : "former",
      state,
      kinds: values.length,
      hasQueued,
      isRemovable,
    }));
  expect(await statusOf()).toMatchObject([
    { name: "former", state: "current" },
    { name: "new", state: "waiting" },
  ]);
  await activateSecret(both);
  const former = { name: "former", state: "former", isRemovable: false };
  expect((await statusOf())[1]).toEqual({ ...former, kinds: SEALED_COLUMNS.length, hasQueued: true });
  await resealStored(both);
  expect((await statusOf())[1]).toEqual({ ...former, kinds: 0, hasQueued: true });
  await world.hot`update deliveries set status = 'sent' where email_id = ${emailId}`;
  expect((await statusOf())[1]).toEqual({ ...former, kinds: 0, hasQueued: false });
  const [, links] = (await getSecretStatus(both, world.clock.now())).secrets;
  expect(links?.isOnlyForLinks).toBe(true);
  const inAYear = new Date(Date.now() + 366 * 86_400_000);
  expect(await statusOf(inAYear)).toMatchObject([{ name: "new", isRemovable: false }, { isRemovable: true }]);
  // A value of release 0.2.0 does not name its secret.
  await world.hot`update webhooks set previous_secret = 'k1.AAAA'`;
  expect((await statusOf(inAYear))[1]).toMatchObject({ isRemovable: false });
});

test("readiness reports another secret as an error, and a process that was not restarted as an alarm", async () => {
  expect(await getReadiness(world.processWith(foreignSecret))).toMatchObject({
    isReady: false,
    reason: "secret_rejected",
    message: expect.stringContaining("BACKSTAMP_SECRETS_OLD"),
  });
  const both = world.processWith(newSecret, installationSecret);
  await admitKeyring(both);
  await activateSecret(both);
  await world.hot`insert into workers (id, host, pid, transport) values (${newId()}, 'mail.example.com', 1, 'relay')`;
  const alarmsOf = async (deps: RestDeps) => {
    const readiness = await getReadiness(deps);
    return readiness.isReady ? readiness.alarms.map(({ alarm }) => alarm) : readiness;
  };
  expect(await alarmsOf(both)).toEqual([]);
  expect(await alarmsOf(world.deps)).toEqual(["secret_outdated"]);
});
