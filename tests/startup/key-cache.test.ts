import { expect, test, vi } from "vitest";
import { readSettings } from "#server/platform/env/settings";
import { silentLog } from "#server/platform/log";
import { cancelTeamDeletion, requestTeamDeletion } from "#server/services/team-deletions/request";
import { type BuildOptions, buildDeps } from "#server/startup/deps";
import { closeAfterTest, forAllTests } from "../support/fixtures";
import { callApi, type RestServer, startRest } from "../support/rest";
import { createWorld } from "../support/world";

const eventually = { timeout: 30_000, interval: 20 };

const world = forAllTests(() => createWorld());

/** A web process with the same composition as in production. */
async function openWeb(
  name: string,
  env: Record<string, string>,
  more: BuildOptions = {},
): Promise<RestServer> {
  const settings = readSettings({ BACKSTAMP_URL: "https://mail.example.com", ...env }, "start");
  const built = buildDeps(
    { ...settings, databaseUrl: world.databaseUrl },
    { log: silentLog, applicationName: name, ...more },
  );
  const server = await startRest(built.forRest({ tick: async () => {} }));
  closeAfterTest(built);
  return closeAfterTest(server);
}

const statusAt = async ({ baseUrl }: RestServer, token: string) =>
  (await callApi(baseUrl, "GET", "/api/domains", { token })).status;
async function statusesAt(server: RestServer, token: string): Promise<number[]> {
  // One after another: a busy machine rejects some of many concurrent requests that read the key.
  const statuses = new Set<number>();
  for (let n = 0; n < 5; n++) statuses.add(await statusAt(server, token));
  return [...statuses];
}
/** The connections of a process that listen for key changes. */
const listenersOf = async (name: string) => {
  const rows = await world.deps.hot`
    select from pg_stat_activity where datname = current_database() and application_name like ${`${name}%`}
      and query = 'listen "backstamp_keys"'`;
  return rows.length;
};

test("the web process that revokes a key rejects it immediately, another one after a notification", async () => {
  const [first, second] = [await openWeb("first web", {}), await openWeb("second web", {})];
  const { token } = await world.key();
  for (const [server, name] of [
    [first, "first web"],
    [second, "second web"],
  ] as const) {
    expect(await statusAt(server, token)).toBe(200);
    await vi.waitFor(async () => expect(await listenersOf(name)).toBe(1), eventually);
  }
  for (let round = 0; round < 2; round++) {
    const key = await world.key();
    for (const server of [first, second]) expect(await statusesAt(server, key.token)).toEqual([200]);
    const revoked = await callApi(first.baseUrl, "DELETE", `/api/api-keys/${key.id}`, { token });
    expect(revoked.status).toBe(200);
    expect(await statusesAt(first, key.token)).toEqual([401]);
    await vi.waitFor(async () => expect(await statusAt(second, key.token)).toBe(401), eventually);
    expect(await statusesAt(second, key.token)).toEqual([401]);
  }
});

test("every web process rejects the keys of a team whose deletion was requested, until it is canceled", async () => {
  const web = await openWeb("web of a deleted team", {});
  const { token } = await world.key();
  expect(await statusAt(web, token)).toBe(200);
  await vi.waitFor(async () => expect(await listenersOf("web of a deleted team")).toBe(1), eventually);
  expect(await statusesAt(web, token)).toEqual([200]);
  const [team] = await world.hot<{ name: string }[]>`select name from teams where id = ${world.ctx.teamId}`;
  await requestTeamDeletion(world.ctx, { confirm: team?.name ?? "" });
  await vi.waitFor(async () => expect(await statusAt(web, token)).toBe(401), eventually);
  await cancelTeamDeletion(world.ctx);
  await vi.waitFor(async () => expect(await statusAt(web, token)).toBe(200), eventually);
});

test.each<[what: string, env: Record<string, string>, more: BuildOptions]>([
  [
    "behind a transaction pooler",
    { DATABASE_URL: "postgres://h/x", DATABASE_URL_UNPOOLED: "postgres://h/x" },
    {},
  ],
  ["in a process that is frozen at times", {}, { canFreeze: true }],
])("%s the process does not listen, and caches no key", async (what, env, more) => {
  const web = await openWeb(what, env, more);
  for (let round = 0; round < 2; round++) {
    const key = await world.key();
    expect(await statusesAt(web, key.token)).toEqual([200]);
    await world.revoke(key.id);
    expect(await statusesAt(web, key.token)).toEqual([401]);
  }
  expect(await listenersOf(what)).toBe(0);
});
