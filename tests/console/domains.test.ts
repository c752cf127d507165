import { describe, expect, test } from "vitest";
import { newId } from "#server/platform/ids";
import { createKey } from "#server/services/keys/keys";
import type { DomainView } from "#server/trpc/domains/views";
import { openConsole } from "../support/console/console";
import { createRoleTeam } from "../support/console/role-teams";
import { relayTo } from "../support/relays";

const console = await openConsole();
const ann = await createRoleTeam(console, "Ann's");

const call = <T>(procedure: string, input: object, role: "admin" | "viewer" = "admin") =>
  ann.data<T>(role, procedure, input);

let count = 0;
const add = async (name = `d${++count}.example`) => (await call<{ id: string }>("domains.add", { name })).id;
const show = (id: string, more: object = {}) => call<DomainView>("domains.get", { id, ...more });

describe("a new domain", () => {
  test("has all records to publish, with their names in full and without the zone", async () => {
    const id = await add("mail.oak.example");
    const { alignment, records, zone } = await show(id);
    expect(zone).toBe("oak.example");
    expect(records.map(({ purpose }) => purpose)).toEqual(
      expect.arrayContaining(["dkim", "dkim_ed25519", "ownership", "dmarc"]),
    );
    expect(records.find(({ purpose }) => purpose === "dkim")).toMatchObject({
      host: "backstamp._domainkey.mail.oak.example",
      label: "backstamp._domainkey.mail",
    });
    expect(alignment).toMatchObject({
      verdict: null,
      spf: expect.stringMatching(/^The return path is the sender/),
    });
  });
});

test("the list contains every domain once across its pages, and can be searched by part of the name", async () => {
  const names = Array.from({ length: 27 }, (_, n) => `p${n}.pages.example`);
  await console.world.hot`
    insert into domains (id, team_id, name) select id, ${ann.teamId}, name
    from unnest(${names.map(newId)}::uuid[], ${names}::text[]) as domain (id, name)`;
  const seen: string[] = [];
  let after: string | undefined;
  for (;;) {
    const page = await call<{ rows: { id: string; name: string }[]; hasMore: boolean }>("domains.list", {
      name: "PAGES.exa",
      ...(after ? { after } : {}),
    });
    seen.push(...page.rows.map(({ name }) => name));
    after = page.rows.at(-1)?.id;
    if (!page.hasMore) break;
  }
  expect(seen).toEqual([...names].reverse());
  for (const name of ["%", "_", "p1%"])
    expect(await call("domains.list", { name })).toEqual({ rows: [], hasMore: false });
});

test("every change is in the audit log with its actor, and a failed attempt is not", async () => {
  const id = await add("logged.example");
  await call("domains.update", { id, change: { tls: "enforced", dailyCap: 100 } });
  await call("domains.verify", { id });
  await call("domains.rotateKey", { id });
  await call("domains.rotateKey", { id });
  const bad = { id, change: { warmUp: { startDate: null, firstDay: 200, growthPercent: 50, target: null } } };
  expect(await ann.call("admin", "domains.update", bad)).toMatchObject({ ok: false });
  await call("domains.remove", { id });
  const rows = (await ann.audit({ subject: id })).reverse();
  expect(rows.map(({ action }) => action)).toEqual([
    "domain.removed",
    "domain.key_rotated",
    "domain.verified",
    "domain.changed",
    "domain.added",
  ]);
  for (const row of rows)
    expect(row).toMatchObject({ actor: "user", actorId: ann.userIds.admin, subjectId: id });
  expect(rows[3]?.detail).toEqual({ tls: "enforced", dailyCap: 100 });
  expect(rows[1]?.detail).toMatchObject({
    selectors: [expect.stringContaining("backstamp-"), expect.any(String)],
  });
});

test("the domain page shows the API keys that send from it and the relay of its email", async () => {
  const id = await add();
  expect(await show(id)).toMatchObject({ keys: [], relays: [] });
  const { key } = await createKey(ann.ctx, { name: "Shop", scopes: ["emails:send"], domains: [id] });
  const { key: wide } = await createKey(ann.ctx, { name: "Wide", scopes: ["emails:send"], domains: "all" });
  const url = "smtp://secret:password@relay.example:2525";
  const { deps, teamId } = { deps: console.deps, teamId: ann.teamId };
  await relayTo(deps, { port: 2525 }, { name: "Everybody", url });
  expect((await show(id)).relays).toMatchObject([{ name: "Everybody", scope: "everybody" }]);
  await relayTo(deps, { port: 2525 }, { name: "Own", url, teamId, domainId: id });
  const shown = await show(id);
  expect(shown.keys).toEqual([
    { id: key.id, name: "Shop", isForAll: false },
    { id: wide.id, name: "Wide", isForAll: true },
  ]);
  expect(shown.relays).toEqual([{ name: "Own", host: "relay.example:2525", scope: "domain" }]);
  expect(JSON.stringify(shown)).not.toContain("password");
});

test("the warm-up schedule shows the daily caps that delivery applies", async () => {
  const id = await add();
  const warmUp = { startDate: "2030-01-01", firstDay: 50, growthPercent: 100, target: 400 };
  await call("domains.update", { id, change: { warmUp } });
  expect((await show(id)).warmUpPlan).toEqual([
    { day: "2030-01-01", allowed: 50 },
    { day: "2030-01-02", allowed: 100 },
    { day: "2030-01-03", allowed: 200 },
  ]);
});

test("the zone file contains every record of the page", async () => {
  const domain = await show(await add());
  for (const { host, type } of domain.records) expect(domain.zoneFile).toContain(`${host}. 3600 IN ${type} `);
});
