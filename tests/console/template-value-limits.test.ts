import { afterAll, beforeAll, expect, test } from "vitest";
import type { DraftPreview } from "#server/services/templates/preview";
import { type Console, openConsole } from "../support/console/console";
import { createRoleTeam, type RoleTeam } from "../support/console/role-teams";

let console: Console;
let ann: RoleTeam;
beforeAll(async () => {
  console = await openConsole();
  ann = await createRoleTeam(console, "Ann's");
});
afterAll(() => console.close());

const call = (procedure: string, input: object) =>
  ann.call("member", `templates.${procedure}`, { team: ann.teamId, ...input });

const numbers = (count: number) => Array.from({ length: count }, (_, n) => n);
const fields = (count: number) => Object.fromEntries(numbers(count).map((n) => [`f${n}`, n]));
let deep: unknown = "x";
for (let level = 0; level < 5_000; level++) deep = [deep];

const html = "{{#each a}}{{this}}{{/each}}";
const draft = (fallbackValue: unknown) => ({
  subject: null,
  html,
  text: null,
  variables: [{ key: "a", type: "list", fallback_value: fallbackValue }],
});

test.each<[what: string, value: unknown, message: RegExp]>([
  ["a list with 1,001 items", numbers(1_001), /At most 1,000 items/],
  ["a list in a list with 1,001 items", [numbers(1_001)], /At most 1,000 items/],
  ["an object with 1,001 fields", [fields(1_001)], /At most 1,000 fields/],
  ["5,000 lists inside one another", deep, /At most 5 lists and objects/],
  ["11,000 values", Array(11).fill(numbers(1_000)), /At most 10,000 values/],
])("previews, test emails and drafts reject %s, as the API does", async (_, value, message) => {
  const created = await call("create", { name: "Limits", alias: null, subject: "S", html });
  const { id } = (created as { data: { id: string } }).data;
  const to = "delivered@backstamp.test";
  const before = (await console.world.rowCounts()).emails;
  for (const [procedure, input] of [
    ["preview", { draft: draft(null), values: { a: value }, withText: false }],
    ["preview", { draft: draft(value), values: {}, withText: false }],
    ["sendTest", { id, from: "ann@backstamp.test", to, values: { a: value } }],
    ["save", { id, revision: 1, change: { variables: draft(value).variables } }],
  ] as const)
    expect(await call(procedure, input), procedure).toMatchObject({
      ok: false,
      message: expect.stringMatching(message),
    });
  expect((await console.world.rowCounts()).emails).toBe(before);
});

test("a list with 1,000 items is previewed, as a value and as a fallback", async () => {
  for (const [values, fallback] of [
    [{ a: numbers(1_000) }, null],
    [{}, numbers(1_000)],
  ] as const) {
    const preview = await call("preview", { draft: draft(fallback), values, withText: false });
    expect((preview as { data: DraftPreview }).data.html).toBe(numbers(1_000).join(""));
  }
});
