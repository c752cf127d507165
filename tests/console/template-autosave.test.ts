import { describe, expect, test } from "vitest";
import type { TemplateView } from "#server/trpc/templates/templates";
import { openConsole } from "../support/console/console";
import { createRoleTeam } from "../support/console/role-teams";

type Saved = { id: string; revision: number; version: number };

const console = await openConsole();
const ann = await createRoleTeam(console, "Ann's");

const call = <T>(procedure: string, input: object) => ann.data<T>("member", `templates.${procedure}`, input);
const open = (id: string) => call<TemplateView>("get", { id });
async function make(): Promise<TemplateView> {
  const input = { name: "Receipt", alias: null, subject: null, html: "<p>Hi {{NAME}}</p>" };
  return open((await call<{ id: string }>("create", input)).id);
}
/** The entries of changes, newest first. */
const changesOf = async (subject: string) =>
  (await ann.audit({ subject, action: "template.changed" })).map(({ detail }) => detail).reverse();

describe("automatic saves", () => {
  const saveAutomatically = (seen: TemplateView, revision: number, change: object) =>
    call<Saved>("save", { id: seen.id, revision, change, isAutomatic: true });

  test("of the same fields have one audit entry, and change the template each time", async () => {
    const seen = await make();
    const changes = () => changesOf(seen.id);
    let { revision } = seen;
    for (const word of ["One", "Two", "Three"])
      ({ revision } = await saveAutomatically(seen, revision, { html: `<p>${word}</p>`, variables: [] }));
    expect(await open(seen.id)).toMatchObject({ html: "<p>Three</p>", revision: seen.revision + 3 });
    expect(await changes()).toEqual([{ changed: ["html", "variables"], version: 1 }]);

    ({ revision } = await saveAutomatically(seen, revision, { subject: "New" }));
    expect(await changes()).toHaveLength(2);
    await call("publish", { id: seen.id, revision });
    ({ revision } = await open(seen.id));
    ({ revision } = await saveAutomatically(seen, revision, { subject: "Newer" }));
    expect((await changes()).map(({ version }) => version)).toEqual([2, 1, 1]);
    await call("save", { id: seen.id, revision, change: { subject: "Newest" } });
    expect(await changes()).toHaveLength(4);
    await console.world.hot`update audit_log set created_at = created_at - interval '11 min'`;
    const now = await open(seen.id);
    await saveAutomatically(seen, now.revision, { subject: "Last" });
    expect(await changes()).toHaveLength(5);
  });

  test("of two templates in turn have one audit entry each, and another one after another person's change", async () => {
    const [first, second] = [await make(), await make()];
    const revisions = { [first.id]: first.revision, [second.id]: second.revision };
    for (const word of ["One", "Two"])
      for (const { id } of [first, second])
        ({ revision: revisions[id] } = await saveAutomatically({ ...first, id }, revisions[id] ?? 0, {
          html: `<p>${word}</p>`,
        }));
    expect(await changesOf(first.id)).toHaveLength(1);
    expect(await changesOf(second.id)).toHaveLength(1);
    const other = await ann.call("owner", "templates.save", {
      id: first.id,
      revision: revisions[first.id],
      change: { html: "<p>Other</p>" },
    });
    expect(other).toMatchObject({ ok: true });
    await saveAutomatically(first, (await open(first.id)).revision, { html: "<p>Three</p>" });
    expect(await changesOf(first.id)).toHaveLength(3);
  });
});
