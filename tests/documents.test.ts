import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { getTableName, isTable } from "drizzle-orm";
import { expect, test } from "vitest";
import { REJECTION_REASONS } from "#server/platform/errors";
import { ERROR_SCHEMAS } from "#server/rest/openapi/faults";
import { METRIC_NAMES, MetricsResponse } from "#server/shared/wire/metrics";
import { FAULTS, NOT_RUN } from "./chaos/faults/table";
import { actionsOf, RECORDED, TASKS, type TaskName } from "./e2e/tasks/recorded";

const root = fileURLToPath(new URL("..", import.meta.url));
const documents = ["README.md", ...below(".github"), ...below("app/docs/guides")].filter((file) =>
  file.endsWith(".md"),
);

function below(folder: string): string[] {
  return readdirSync(path.join(root, folder), { recursive: true, encoding: "utf8" }).map((name) =>
    path.posix.join(folder, ...name.split(path.sep)),
  );
}

const read = (file: string): string => readFileSync(path.join(root, file), "utf8");

/** The anchors of headings, as GitHub builds them. */
const anchorsOf = (text: string): string[] =>
  [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );

/** The targets of links and pictures, in Markdown and in HTML. */
const linksIn = (text: string): string[] =>
  [...text.matchAll(/\]\(([^()\s]+)\)|(?:src|href)="([^"]+)"/g)]
    .map(([, markdown, html]) => markdown ?? html ?? "")
    .filter((target) => !/^(https?|mailto):/.test(target));

/** Files and folders that a text names in backticks. */
const pathsIn = (text: string): string[] =>
  [...text.matchAll(/`((?:app|server|db|tests|\.github|\.ci)\/[\w./[\]-]+)`/g)].map(
    ([, named = ""]) => named,
  );

function brokenLinksOf(file: string, text: string): string[] {
  return linksIn(text).filter((link) => {
    const [target = "", anchor] = link.split("#");
    const to = target === "" ? file : path.posix.join(path.posix.dirname(file), decodeURIComponent(target));
    if (!existsSync(path.join(root, to))) return true;
    return anchor !== undefined && !anchorsOf(read(to)).includes(anchor);
  });
}

const missingPathsOf = (text: string): string[] =>
  pathsIn(text).filter(
    (named) => !["", ".ts", ".tsx", ".test.ts"].some((end) => existsSync(path.join(root, named + end))),
  );

test.each(documents)("all links of %s exist", (file) => {
  expect(brokenLinksOf(file, read(file))).toEqual([]);
});

test.each(documents)("all files that %s names exist", (file) => {
  expect(missingPathsOf(read(file))).toEqual([]);
});

test("a broken link, a missing anchor and a missing file are found", () => {
  const text =
    "[a](missing.md) [b](README.md#missing) [c](README.md#start) `server/missing.ts` `server/deps.ts`";
  expect(brokenLinksOf("README.md", text)).toEqual(["missing.md", "README.md#missing"]);
  expect(missingPathsOf(text)).toEqual(["server/missing.ts"]);
});

test("the workflow runs the same script as developers", () => {
  expect(read(".github/workflows/ci.yml")).toContain("run: .ci/run");
});

test("the counts of the console's tasks are those that its tests record", () => {
  const rows = read(".github/CONSOLE_TASKS.md")
    .split("\n")
    .map((line) => line.split("|").map((cell) => cell.trim()))
    .filter(([, task = ""]) => Object.values<string>(TASKS).includes(task));
  const documented = rows.map(([, task, clicks, keys, sum, later]) => {
    expect(Number(clicks) + Number(keys)).toBe(Number(sum));
    return { task, first: Number(sum), newest: Number(later || sum) };
  });
  const names = Object.keys(TASKS) as TaskName[];
  expect(documented.map(({ task, newest }) => [task, newest])).toEqual(
    names.map((name) => [TASKS[name], actionsOf(RECORDED[name])]),
  );
  expect(documented.filter(({ first, newest }) => newest > first)).toEqual([]);
  expect(documented.filter(({ first, newest }) => newest < first).length).toBeGreaterThan(names.length / 2);
});

/** The paragraph of a text that contains these words. */
const paragraphWith = (text: string, words: string): string =>
  text.split("\n\n").find((paragraph) => paragraph.includes(words)) ?? "";

test.each([".github/API.md", "app/docs/guides/keys.md", "server/rest/openapi/document.ts"])(
  "%s names every reason of a 403 that the API returns, and no other",
  (file) => {
    const text = file.endsWith(".ts")
      ? (read(file).match(/^.*Why the key was rejected.*$/m)?.[0] ?? "")
      : (paragraphWith(read(file), "`X-Backstamp-Reason`").split("`X-Backstamp-Reason`")[1] ?? "");
    const named = [...text.matchAll(/`([a-z]+(?:_[a-z]+)+)`/g)].map(([, reason]) => reason);
    expect(named).toEqual([...REJECTION_REASONS]);
  },
);

test.each([".github/API.md", "app/docs/guides/limits-and-errors.md"])(
  "%s names every field of the body of an error",
  (file) => {
    const section = read(file).split("\n## Errors\n")[1]?.split("\n## ")[0] ?? "";
    const { required } = ERROR_SCHEMAS.Error as { required: string[] };
    expect(required.filter((field) => !new RegExp(`[\`"]${field}[\`"]`).test(section))).toEqual([]);
  },
);

test("API.md has a response of the metrics with every field, and names every field of a row", () => {
  const section = read(".github/API.md").split("\n## Metrics\n")[1]?.split("\n## ")[0] ?? "";
  const example = JSON.parse(/```json\n([\s\S]*?)```/.exec(section)?.[1] ?? "null");
  const { shape } = MetricsResponse;
  expect(Object.keys(example)).toEqual(Object.keys(shape));
  const row = shape.data.unwrap().element;
  expect(MetricsResponse.extend({ data: row.strict().array() }).safeParse(example).error).toBeUndefined();
  for (const values of [example.totals, ...example.data])
    expect(Object.keys(values).filter((name) => METRIC_NAMES.some((metric) => metric === name))).toEqual(
      example.metrics,
    );
  expect(Object.keys(row.shape).filter((field) => !section.includes(`\`${field}\``))).toEqual([]);
});

test("the data model names every table of the schema", async () => {
  const files = readdirSync(path.join(root, "db/schema"));
  const modules: object[] = await Promise.all(
    files.map((file) => import(path.join(root, "db/schema", file))),
  );
  const tables = modules.flatMap((module) => Object.values(module).filter(isTable).map(getTableName));
  const section = read(".github/ARCHITECTURE.md").split("\n## Data\n")[1]?.split("\n## ")[0] ?? "";
  const named = [...section.matchAll(/^\|(.*?)\|/gm)].flatMap(
    ([, cell = ""]) => cell.match(/\w+(?=`)/g) ?? [],
  );
  expect([...named].sort()).toEqual([...tables].sort());
});

test("the fault matrix has every fault that is injected, and those that are not with their reasons", () => {
  const table =
    read(".github/RELIABILITY.md").split("\n## Fault matrix\n")[1]?.split("\n| **total**")[0] ?? "";
  const rows = [...table.matchAll(/^\| (?!fault \||---)(.*?)(?: \[\d\])? \| (NOT RUN: .*?|[\d,]+) \|/gm)];
  const injected = rows.filter(([, , cell = ""]) => !cell.startsWith("NOT RUN")).map(([, row]) => row);
  const others = rows
    .filter(([, , cell = ""]) => cell.startsWith("NOT RUN"))
    .map(([, row, cell]) => [row, cell]);
  expect(injected.sort()).toEqual(FAULTS.map(({ row }) => row).sort());
  expect(others).toEqual(NOT_RUN.map(({ row, reason }) => [row, `NOT RUN: ${reason}`]));
});

test("each test that a fault's reason names exists", () => {
  const named = NOT_RUN.flatMap(({ reason }) => reason.match(/tests\/[\w./-]+/g) ?? []);
  expect(named.length).toBeGreaterThan(5);
  expect(named.filter((file) => !existsSync(path.join(root, file)))).toEqual([]);
});
