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

async function call<T>(procedure: string, input: object): Promise<T> {
  const result = await ann.call("member", `templates.${procedure}`, { team: ann.teamId, ...input });
  if (!result.ok) throw new Error(`${procedure}: ${result.message}`);
  return result.data as T;
}

test("the editor warns of tags of other template languages while typing, and saving returns the warnings", async () => {
  const draft = { subject: "<%= a %>", html: "{{A}}", text: null, variables: [{ key: "A", type: "string" }] };
  const said = await call<DraftPreview>("preview", { draft, values: {}, withText: false });
  expect(said).toMatchObject({
    faults: [],
    warnings: [expect.stringMatching(/^`subject` has `<%= a %>`.*EJS/)],
  });
  const fine = await call<DraftPreview>("preview", {
    draft: { ...draft, subject: "Hello" },
    values: {},
    withText: false,
  });
  expect(fine.warnings).toEqual([]);

  const { id } = await call<{ id: string }>("create", { name: "x", alias: null, subject: null, html: "x" });
  const change = { html: "{% if a %}" };
  const saved = await call("save", { id, revision: 1, change });
  expect(saved).toMatchObject({ warnings: [expect.stringContaining("{% if a %}")] });
});
