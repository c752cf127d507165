import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { routes as declared } from "#server/rest/routes";
import { appRouter } from "#server/trpc/router";
import { readDoors } from "./doors/doors";
import { formatDoors } from "./doors/format";
import { GAPS } from "./doors/gaps";

const root = fileURLToPath(new URL("..", import.meta.url));
const { doors, reached } = readDoors(root);

const namesOf = (kind: string) => new Set(doors.filter((door) => door.kind === kind).map(({ name }) => name));

test("every route of the API and every procedure is read as a door", () => {
  const routes = declared.map(({ method, path }) => `${method} ${path}`);
  expect(routes.filter((route) => !namesOf("REST").has(route))).toEqual([]);
  const procedures = Object.keys((appRouter as unknown as { _def: { procedures: object } })._def.procedures);
  expect(procedures.filter((procedure) => !namesOf("console").has(procedure))).toEqual([]);
});

test("what one door can do with mail, templates, domains, keys, webhooks and suppressions the other can, or there is a reason", () => {
  const nouns = /^(emails|templates|domains|keys|webhooks|suppressions)\//;
  const gaps = reached
    .filter(({ service }) => nouns.test(service))
    .filter(
      ({ doors: own }) =>
        own.some(({ kind }) => kind === "REST") !== own.some(({ kind }) => kind === "console"),
    )
    .map(({ service }) => service);
  expect(gaps.filter((gap) => !(gap in GAPS))).toEqual([]);
  expect(Object.keys(GAPS).filter((gap) => !gaps.includes(gap))).toEqual([]);
});

test("the table of doors is that of the source; `npx vitest run --config tests/vitest.config.ts tests/doors.test.ts -u` writes it anew", async () => {
  await expect(formatDoors(reached, GAPS)).toMatchFileSnapshot("../.github/doors.md");
});
