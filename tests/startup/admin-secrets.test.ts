import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { startWorker, type Worker } from "#server/delivery/worker";
import { newId } from "#server/platform/ids";
import { createKeyring } from "#server/platform/secrets/keyring";
import { SEALED } from "#server/platform/secrets/sealed-columns";
import { createDomain } from "#server/services/domains/write";
import { admitKeyring } from "#server/services/secrets/registry";
import { freshDatabase } from "../support/database/postgres";
import { installationSecret, openDeps } from "../support/deps";
import { addSignedDomain } from "../support/dkim-verifier";
import { forEachTest } from "../support/fixtures";
import { runCommand } from "../support/processes/command-line";
import { killLeftovers } from "../support/processes/processes";
import { startProgram } from "../support/processes/program";
import { killWorkers, spawnWorker } from "../support/processes/worker-process";
import { transportTo } from "../support/relays";
import { startSmtpTestServer } from "../support/servers/smtp-test-server";
import { createWorld } from "../support/world";

const newSecret = "a new secret of this installation, for the tests";
const heldLock = 1;
const eventually = { timeout: 60_000, interval: 50 };
vi.setConfig({ testTimeout: 120_000 });

const world = forEachTest(() => createWorld({ transportKind: "relay" }));
afterEach(async () => {
  await killWorkers();
  killLeftovers();
});

const envOf = (secret: string, ...old: string[]) => ({
  DATABASE_URL: world.databaseUrl,
  BACKSTAMP_SECRET: secret,
  BACKSTAMP_SECRETS_OLD: old.length > 0 ? JSON.stringify(old) : "",
});
const backstamp = (args: string[], secret: string, ...old: string[]) =>
  runCommand(args, { env: envOf(secret, ...old) });
const idOf = (secret: string) => createKeyring([secret]).given.id;

/** Stored relays by the id of their secret. */
async function countRelays(): Promise<Record<string, number>> {
  const rows = await world.hot<{ id: string; count: number }[]>`
    select split_part(url, '.', 3) as id, count(*)::int as count from relays group by 1`;
  return Object.fromEntries(rows.map(({ id, count }) => [id, count]));
}

test("no command decides which secret an unused database has", async () => {
  const unused = await freshDatabase();
  const run = (...args: string[]) =>
    runCommand(args, { env: { DATABASE_URL: unused.url, BACKSTAMP_SECRET: newSecret } });
  const add = ["relay", "add", "main", "smtp://u:p@smtp.example.com"];
  const { deps, close } = openDeps(unused.url, { areSecretsUnchecked: true });
  try {
    expect(await run(...add)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("start Backstamp first: it records the secret"),
    });
    expect(await deps.hot`select from relays`).toHaveLength(0);
    expect(await run("relay", "list")).toMatchObject({ code: 0 });
    expect(await run("secret", "status")).toMatchObject({ code: 0 });
    expect(await deps.hot`select from installation_secrets`).toHaveLength(0);
    await admitKeyring(deps);
    expect(deps.keyring.active().id).toBe(idOf(installationSecret));
    expect(await run(...add)).toMatchObject({ code: 1, stderr: expect.stringContaining("BACKSTAMP_SECRET") });
    expect(await deps.hot`select from relays`).toHaveLength(0);
  } finally {
    await close();
    await unused.drop();
  }
});

test("secret rotate prints what to set, and after the restart activates it and encrypts what is stored", async () => {
  expect(
    await backstamp(["relay", "add", "main", "smtp://u:p@smtp.example.com"], installationSecret),
  ).toMatchObject({
    code: 0,
  });
  const printed = await backstamp(["secret", "rotate", "--json"], installationSecret);
  const { variables } = JSON.parse(printed.stdout);
  expect(variables).toEqual({
    BACKSTAMP_SECRET: expect.stringMatching(/^[\w-]{43}$/),
    // It contains spaces, so a list with commas would be ambiguous.
    BACKSTAMP_SECRETS_OLD: JSON.stringify([installationSecret]),
  });
  const again = JSON.parse((await backstamp(["secret", "rotate", "--json"], installationSecret)).stdout);
  expect(again.variables.BACKSTAMP_SECRET).not.toBe(variables.BACKSTAMP_SECRET);
  expect(await countRelays()).toEqual({ [idOf(installationSecret)]: 1 });

  const env = { DATABASE_URL: world.databaseUrl, ...variables };
  const fresh = variables.BACKSTAMP_SECRET;
  const waiting = await runCommand(["secret", "status"], { env });
  expect(waiting.stdout).toContain(`${idOf(installationSecret)}  current, BACKSTAMP_SECRETS_OLD, entry 1`);
  expect(waiting.stdout).toContain(`${idOf(fresh)}  waiting, BACKSTAMP_SECRET: not active yet.`);
  const rotated = await runCommand(["secret", "rotate"], { env });
  expect(rotated).toMatchObject({ code: 0, stderr: "" });
  expect(rotated.stdout).toContain("The new secret is active. 1 stored value encrypted with it.");
  expect(rotated.stdout).toMatch(/entry 1: needed until \d{4}-\d\d-\d\d for links in email that it signed/);
  expect(rotated.stdout).not.toContain(fresh);
  expect(await countRelays()).toEqual({ [idOf(fresh)]: 1 });
  expect(await backstamp(["relay", "list"], fresh, installationSecret)).toMatchObject({ code: 0 });
});

test("a rotation beyond ten former secrets is rejected with those to remove, one of which may break only links", async () => {
  await admitKeyring(world.deps);
  const dataDir = await mkdtemp(path.join(tmpdir(), "backstamp-ring-"));
  const env = { DATABASE_URL: world.databaseUrl, BACKSTAMP_DATA_DIR: dataDir };
  const unused = Array.from({ length: 9 }, (_, n) => `a former secret of this installation, number ${n}`);
  const kept = { secret: newSecret, oldSecrets: [installationSecret, ...unused] };
  await writeFile(path.join(dataDir, "secrets.json"), JSON.stringify(kept), { mode: 0o600 });
  expect(await runCommand(["secret", "rotate"], { env })).toMatchObject({ code: 0 });
  await world.hot`
    update installation_secrets set active_from = now() - interval '1 hour', resealed_at = now()
    where id = ${idOf(newSecret)}`;
  const rejected = await runCommand(["secret", "rotate"], { env });
  expect(rejected).toMatchObject({ code: 1, stdout: "" });
  const former = idOf(installationSecret);
  expect(rejected.stderr).toContain(
    `Only links need ${former}. Remove one with secret remove ID --break-links.`,
  );
  expect((await runCommand(["secret", "remove", former], { env })).stderr).toContain("--break-links");
  expect(await runCommand(["secret", "remove", former, "--break-links"], { env })).toMatchObject({ code: 0 });
  const left = JSON.parse(await readFile(path.join(dataDir, "secrets.json"), "utf8"));
  expect(left).toEqual({ secret: newSecret, oldSecrets: unused });
  expect(await runCommand(["secret", "rotate"], { env })).toMatchObject({ code: 0 });
  await rm(dataDir, { recursive: true });
});

test("with another secret, commands that encrypt and workers are refused, and the others work", async () => {
  await admitKeyring(world.deps);
  const refused = await backstamp(["relay", "add", "main", "smtp://u:p@smtp.example.com"], newSecret);
  expect(refused).toMatchObject({ code: 1, stdout: "" });
  expect(refused.stderr).toMatch(
    /^backstamp: BACKSTAMP_SECRET is not the secret of this database\..*BACKSTAMP_SECRETS_OLD/,
  );
  expect(await world.hot`select from relays`).toHaveLength(0);
  expect(await backstamp(["secret", "status"], newSecret)).toMatchObject({ code: 1 });
  expect(await backstamp(["email", "list"], newSecret)).toMatchObject({ code: 0 });
  // The former secret is lost: the operator accepts it explicitly, and only then.
  expect(await backstamp(["secret", "rotate", "--lost"], installationSecret)).toMatchObject({ code: 1 });
  const worker = spawnWorker({
    databaseUrl: world.databaseUrl,
    smtpUrl: "capture:",
    env: { BACKSTAMP_SECRET: newSecret },
  });
  expect((await worker.exited).code).not.toBe(0);
  expect(worker.output()).toContain("BACKSTAMP_SECRET is not the secret of this database");
  expect(await world.hot`select from workers`).toHaveLength(0);
  expect(await backstamp(["secret", "rotate", "--lost"], newSecret)).toMatchObject({ code: 0 });
  expect(await backstamp(["relay", "add", "main", "smtp://u:p@smtp.example.com"], newSecret)).toMatchObject({
    code: 0,
  });
});

test("a rotation that is killed with -9 continues where it was, and every value opens", async () => {
  const total = 2_500;
  const ids = Array.from({ length: total }, newId);
  const urls = ids.map((id) =>
    world.deps.vault.seal(`smtp://u:${id}@smtp.example.com`, SEALED.relayUrl.locationOf({ id })),
  );
  await world.hot`
    insert into relays (id, name, url, host)
    select id, id::text, url, 'smtp.example.com:587' from unnest(${ids}::uuid[], ${urls}::text[]) as r(id, url)`;
  const rotate = () =>
    startProgram("server/startup/admin.ts", ["secret", "rotate"], {
      env: envOf(newSecret, installationSecret),
    });
  // The batch with the middle value waits for the lock of this transaction, so the kill precedes the end.
  await world.hot.unsafe(`
    create function hold_value() returns trigger language plpgsql as
      $$ begin perform pg_advisory_xact_lock(${heldLock}); return new; end $$;
    create trigger hold_value before update on relays for each row when (old.name = '${ids[total / 2]}')
      execute function hold_value()`);
  await world.hot.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(${heldLock})`;
    const killed = await rotate();
    await vi.waitFor(
      async () => expect((await countRelays())[idOf(newSecret)]).toBeGreaterThan(0),
      eventually,
    );
    await killed.kill();
  });
  await world.hot`drop trigger hold_value on relays`;
  const left = (await countRelays())[idOf(installationSecret)] ?? 0;
  expect(left).toBeGreaterThanOrEqual(total / 2);

  const { code, stdout } = await backstamp(["secret", "rotate", "--json"], newSecret, installationSecret);
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ is_complete: true, resealed: left, unreadable: 0 });
  expect(await countRelays()).toEqual({ [idOf(newSecret)]: total });
  const { deps, close } = openDeps(world.databaseUrl, { secret: newSecret });
  const rows = await world.hot<{ id: string; url: string }[]>`select id, url from relays`;
  for (const { id, url } of rows)
    expect(deps.vault.open(url, SEALED.relayUrl.locationOf({ id }))).toBe(`smtp://u:${id}@smtp.example.com`);
  await close();
});

test("a rotation while email is accepted and delivered: nothing fails, and nothing is sent unsigned", async () => {
  await addSignedDomain(world, "signed.example");
  await admitKeyring(world.deps);
  const peer = await startSmtpTestServer({});
  const processes = [0, 1].map(() =>
    openDeps(world.databaseUrl, {
      secret: newSecret,
      formerSecrets: [installationSecret],
      transportKind: "relay",
    }),
  );
  const workers: Worker[] = [];
  for (const { deps } of processes) {
    await admitKeyring(deps);
    workers.push(await startWorker({ ...deps, transport: transportTo(peer) }));
  }
  const total = 60;
  const send = async () => {
    for (let n = 0; n < total; n++) {
      const ctx = { ...world.ctx, ...processes[n % 2]?.deps, teamId: world.id };
      await world.send({ sender: "Ann <ann@signed.example>", to: [`r${n}@example.net`] }, ctx);
      // New domains get keys that are encrypted meanwhile.
      if (n % 20 === 0) await createDomain(ctx, { name: `d${n}.example` });
    }
  };
  const rotate = async () => {
    await vi.waitFor(() => expect(peer.messages.length).toBeGreaterThan(5), eventually);
    const { code, stdout, stderr } = await backstamp(
      ["secret", "rotate", "--json"],
      newSecret,
      installationSecret,
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    return JSON.parse(stdout);
  };
  const [, rotated] = await Promise.all([send(), rotate()]);
  expect(rotated).toMatchObject({ is_active: true, unreadable: 0 });
  await vi.waitFor(() => expect(peer.messages).toHaveLength(total), eventually);
  for (const { bytes } of peer.messages)
    expect(bytes.toString("latin1").match(/^DKIM-Signature:/gim)).toHaveLength(2);
  for (const worker of workers) await worker.stop();
  const statuses = await world.hot`select distinct status from deliveries`;
  expect(statuses).toEqual([{ status: "sent" }]);
  // What a process encrypted before it learned of the activation follows, here by command, otherwise by the
  // workers.
  await backstamp(["secret", "rotate"], newSecret, installationSecret);
  const sealed = await world.hot`select distinct split_part(private_key, '.', 3) as id from dkim_keys`;
  expect(sealed).toEqual([{ id: idOf(newSecret) }]);
  for (const { close } of processes) await close();
  await peer.close();
});
