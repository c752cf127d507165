import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { forAllTests } from "../support/fixtures";
import { runCommand } from "../support/processes/command-line";
import { createWorld } from "../support/world";

const folder = fileURLToPath(new URL("../../db/migrations", import.meta.url));

const world = forAllTests(() => createWorld());

const run = (...args: string[]) => runCommand(args, { env: { DATABASE_URL: world.databaseUrl } });
const create = (email: string) => run("user", "create", email);
const operators = async () =>
  (await world.hot<{ email: string }[]>`select email from users where is_operator order by created_at`).map(
    ({ email }) => email,
  );

test("the first user is an operator, others become one by a grant, and the last operator stays", async () => {
  await create("ann@example.org");
  await create("ben@example.org");
  expect(await operators()).toEqual(["ann@example.org"]);
  const last = await run("operator", "revoke", "ann@example.org");
  expect([last.code, last.stdout]).toEqual([1, ""]);
  expect(last.stderr).toContain("ann@example.org is the last operator.");
  expect((await run("operator", "revoke", "ben@example.org")).stderr).toContain("is not an operator");
  expect((await run("operator", "grant", "nobody@example.org")).stderr).toContain("There is no user");
  expect((await run("operator", "grant", "Ben@Example.org")).stdout).toMatch(
    /^ben@example.org is now an operator of the installation\./,
  );
  expect((await run("operator", "grant", "ben@example.org")).stdout).toBe(
    "ben@example.org is an operator already.\n",
  );
  const listed = JSON.parse((await run("operator", "list", "--json")).stdout);
  expect(listed.data).toMatchObject([{ email: "ann@example.org" }, { email: "ben@example.org" }]);
  expect((await run("operator", "revoke", "ann@example.org")).stdout).toBe(
    "ann@example.org is no longer an operator.\n",
  );
  expect(await operators()).toEqual(["ben@example.org"]);
  const events = await world.hot`
    select u.email, e.kind from account_events e join users u on u.id = e.user_id
    where e.kind like 'operator_%' order by e.id`;
  expect(events).toEqual([
    { email: "ben@example.org", kind: "operator_granted" },
    { email: "ann@example.org", kind: "operator_revoked" },
  ]);
});

test("of two operators who are revoked at the same time, one stays", async () => {
  await run("operator", "grant", "ann@example.org");
  const done = await Promise.all(
    ["ann", "ben"].map((name) => run("operator", "revoke", `${name}@example.org`)),
  );
  expect(done.map(({ code }) => code).sort()).toEqual([0, 1]);
  expect(await operators()).toHaveLength(1);
});

test("the upgrade of an installation makes its oldest user the operator", async () => {
  const file = readdirSync(folder).find((name) => name.endsWith("_operators.sql")) ?? "";
  await world.hot`alter table users drop column is_operator`;
  await world.hot.unsafe(readFileSync(path.join(folder, file), "utf8"));
  expect(await operators()).toEqual(["ann@example.org"]);
});
