import { expect, test } from "vitest";
import { createTemplate } from "#server/services/templates/write";
import type { TemplateView, VersionRow } from "#server/trpc/templates/templates";
import { openConsole } from "../support/console/console";
import { createRoleTeam } from "../support/console/role-teams";

const console = await openConsole();
const team = await createRoleTeam(console, "Publishers");

type Who = "member" | "owner" | "viewer";

const call = <T>(who: Who, procedure: string, input: object) =>
  team.data<T>(who, `templates.${procedure}`, input);
const revisionOf = async (id: string) => (await call<TemplateView>("member", "get", { id })).revision;
const publications = async (id: string, who: Who = "member") =>
  (await call<{ rows: VersionRow[] }>(who, "versions", { id })).rows.map(({ number, publication }) => [
    number,
    publication && { actor: publication.actor, name: publication.name },
  ]);
const by = (who: Who) => ({ actor: "user", name: `${who}-${team.userIds[who]}@example.org` });

test("each version shows who published it last, and a draft shows none", async () => {
  const { id } = await call<{ id: string }>("member", "create", {
    name: "Shown",
    alias: null,
    subject: null,
    html: "<p>1</p>",
  });
  expect(await publications(id)).toEqual([[1, null]]);
  await call("member", "publish", { id, revision: await revisionOf(id) });
  await call("owner", "save", { id, revision: await revisionOf(id), change: { html: "<p>2</p>" } });
  expect(await publications(id)).toEqual([
    [2, null],
    [1, by("member")],
  ]);
  await call("owner", "publish", { id, revision: await revisionOf(id) });
  await call("owner", "rollBack", { id, revision: await revisionOf(id), version: "1" });
  expect(await publications(id, "viewer")).toEqual([
    [2, by("owner")],
    [1, by("owner")],
  ]);
  const [row] = (await call<{ rows: VersionRow[] }>("member", "versions", { id })).rows;
  expect(row?.publication?.at).toMatch(/^\d{4}-.*Z$/);
});

test("a template that was created as published shows its creator, and other templates are not mixed in", async () => {
  const content = {
    subject: null,
    html: "<p>x</p>",
    text: null,
    sender: null,
    replyTo: null,
    variables: null,
  };
  const { id } = await createTemplate(team.ctx, { name: "By program", alias: null, ...content });
  const draft = await createTemplate(team.ctx, { name: "Draft", alias: null, ...content }, "draft");
  expect(await publications(id)).toEqual([[1, expect.objectContaining({ actor: team.ctx.actor.kind })]]);
  expect(await publications(draft.id)).toEqual([[1, null]]);
});
