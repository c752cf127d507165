import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { routes as declared } from "#server/rest/routes";
import { appRouter } from "#server/trpc/router";
import { formatEntryPoints } from "./entry-points/format";
import { GAPS } from "./entry-points/gaps";
import { readEntryPoints } from "./entry-points/read";

const root = fileURLToPath(new URL("..", import.meta.url));
const { entryPoints, reached } = readEntryPoints(root);

const namesOf = (kind: string) =>
  new Set(entryPoints.filter((entryPoint) => entryPoint.kind === kind).map(({ name }) => name));

test("every route, every procedure and the commands are found as entry points", () => {
  const routes = declared.map(({ method, path }) => `${method} ${path}`);
  expect(routes.filter((route) => !namesOf("REST").has(route))).toEqual([]);
  const procedures = Object.keys((appRouter as unknown as { _def: { procedures: object } })._def.procedures);
  expect(procedures.filter((procedure) => !namesOf("console").has(procedure))).toEqual([]);
  const commands = [
    "domain verify",
    "email list",
    "inbound token",
    "migrate",
    "team create",
    "user reset-2fa",
  ];
  expect(commands.filter((command) => !namesOf("command line").has(command))).toEqual([]);
});

test("the API and the console can do the same with emails, templates, domains, keys, webhooks and suppressions, or a reason is listed", () => {
  const nouns = /^(emails|templates|domains|keys|webhooks|suppressions)\//;
  const gaps = reached
    .filter(({ service }) => nouns.test(service))
    .filter(
      ({ entryPoints: own }) =>
        own.some(({ kind }) => kind === "REST") !== own.some(({ kind }) => kind === "console"),
    )
    .map(({ service }) => service);
  expect(gaps.filter((gap) => !(gap in GAPS))).toEqual([]);
  expect(Object.keys(GAPS).filter((gap) => !gaps.includes(gap))).toEqual([]);
});

test("the table of entry points matches the source; `npx vitest run --config tests/vitest.config.ts tests/entry-points.test.ts -u` updates it", async () => {
  await expect(formatEntryPoints(reached, GAPS)).toMatchFileSnapshot("../.github/entry-points.md");
});
