import { describe, expect, test } from "vitest";
import { getEmail } from "#server/services/emails/read/read";
import { createKey } from "#server/services/keys/keys";
import type { DraftPreview } from "#server/services/templates/preview";
import { answerTemplateBody } from "#server/trpc/templates/body";
import type { TemplateRow, TemplateView } from "#server/trpc/templates/templates";
import { FOR_CONCURRENT_CALLS, noCookies, openConsole } from "../support/console/console";
import { createRoleTeam } from "../support/console/role-teams";
import { refused } from "../support/rejected";

type Saved = { id: string; revision: number; version: number };
type Rows = { rows: TemplateRow[]; hasMore: boolean };

const console = await openConsole(FOR_CONCURRENT_CALLS);
const ann = await createRoleTeam(console, "Ann's");

const call = <T>(procedure: string, input: object, role: "member" | "viewer" = "member") =>
  ann.data<T>(role, `templates.${procedure}`, input);
const refusal = (procedure: string, input: object) => ann.call("member", `templates.${procedure}`, input);

let made = 0;
async function make(content: object = {}): Promise<TemplateView> {
  const input = { name: "Receipt", alias: `receipt-${++made}`, subject: null, html: "<p>Hi {{NAME}}</p>" };
  const { id } = await call<{ id: string }>("create", { ...input, ...content });
  return open(id);
}
const open = (id: string) => call<TemplateView>("get", { id });
const save = (seen: TemplateView, change: object) =>
  call<Saved>("save", { id: seen.id, revision: seen.revision, change });
/** The entries of the audit log about a template, newest first. */
const audited = async (subject: string) =>
  (await ann.audit({ subject })).map(({ action, detail }) => ({ action, ...detail })).reverse();

test("a save clears null fields and keeps omitted ones, and a draft cannot be sent", async () => {
  const template = await make({ subject: "Hello" });
  const { revision } = await save(template, {
    from: "Ann <ann@example.org>",
    replyTo: ["office@example.org"],
  });
  const saved = { subject: "Hello", from: "Ann <ann@example.org>", reply_to: ["office@example.org"] };
  expect(await open(template.id)).toMatchObject({ ...saved, number: 1, publishedNumber: null });
  await save({ ...template, revision }, { from: null, replyTo: null, subject: null, text: "" });
  const cleared = { subject: null, from: null, reply_to: null, text: "", html: "<p>Hi {{NAME}}</p>" };
  expect(await open(template.id)).toMatchObject(cleared);
  const use = { template: { id: template.id, variables: { NAME: "Ann" } }, html: null };
  await expect(console.world.send({ sender: "ann@backstamp.test", ...use }, ann.ctx)).rejects.toThrow(
    /not published/,
  );
});

describe("two editors of the same template", () => {
  test("do not overwrite each other: the second gets a conflict with both versions", async () => {
    const seen = await make();
    const first = await save(seen, { html: "<p>First {{NAME}}</p>" });
    const late = { id: seen.id, revision: seen.revision };
    expect(await refusal("save", { ...late, change: { html: "<p>Second {{NAME}}</p>" } })).toMatchObject({
      code: "CONFLICT",
      message: expect.stringMatching(/^This template was changed after you opened it/),
    });
    expect((await open(seen.id)).html).toBe("<p>First {{NAME}}</p>");
    await save({ ...seen, revision: first.revision }, { html: "<p>Second {{NAME}}</p>" });
    expect((await open(seen.id)).html).toBe("<p>Second {{NAME}}</p>");
  });

  test("publish and roll back only the version they have seen", async () => {
    const seen = await make();
    await save(seen, { html: "<p>Unseen {{NAME}}</p>" });
    const { id, revision } = seen;
    for (const [procedure, input] of [
      ["publish", { id, revision }],
      ["rollBack", { id, revision, version: "1" }],
    ] as const)
      expect(await refusal(procedure, input)).toMatchObject({ code: "CONFLICT" });
    expect(await open(id)).toMatchObject({ publishedNumber: null });
  });

  test("saving concurrently: one succeeds, and the others get a conflict", async () => {
    const seen = await make();
    const { id, revision } = seen;
    const result = await Promise.all(
      Array.from({ length: 8 }, (_, n) =>
        ann.call("member", "templates.save", { id, revision, change: { subject: `Subject ${n}` } }),
      ),
    );
    expect(result.filter(({ ok }) => ok)).toHaveLength(1);
    expect(new Set(result.flatMap((each) => (each.ok ? [] : each.code)))).toEqual(new Set(["CONFLICT"]));
    expect((await open(id)).revision).toBe(revision + 1);
  });
});

test("changes of a template are audited, and updates without a change are not", async () => {
  const seen = await make({ subject: "One" });
  const { id } = seen;
  const saved = await save(seen, { subject: "Two" });
  await call("publish", { id, revision: saved.revision });
  const live = await open(id);
  await call("publish", { id, revision: live.revision });
  const next = await save(live, { subject: "Three" });
  await call("publish", { id, revision: next.revision });
  await call("rollBack", { id, version: "1", revision: (await open(id)).revision });
  expect(await audited(id)).toEqual([
    { action: "template.rolled_back", version: 1, before: 2 },
    { action: "template.published", version: 2, before: 1 },
    { action: "template.changed", changed: ["subject"], version: 2 },
    { action: "template.published", version: 1, before: null },
    { action: "template.changed", changed: ["subject"], version: 1 },
    { action: "template.created", alias: seen.alias, published: false },
  ]);
  const copy = await call<{ id: string }>("duplicate", { id });
  expect(await audited(copy.id)).toEqual([{ action: "template.duplicated", from: id, fromName: "Receipt" }]);
  await call("remove", { id });
  expect((await audited(id))[0]).toEqual({ action: "template.deleted", alias: seen.alias });
});

const NEW_KEY = { name: "Shop", scopes: ["emails:send"] } as const;

describe("the template list", () => {
  test("shows the versions, the last use and the dependents of each template", async () => {
    const { id, alias } = await make({ subject: "Hi", name: "Used one" });
    await save(await open(id), { from: "ann@backstamp.test" });
    await call("publish", { id, revision: (await open(id)).revision });
    await save(await open(id), { subject: "Ahead" });
    const row = async () =>
      (await call<Rows>("list", { search: "used ONE" })).rows.find((each) => each.id === id);
    expect(await row()).toMatchObject({ alias, currentNumber: 2, publishedNumber: 1, lastUsedAt: null });
    expect(await call("use", { id })).toEqual({ lastUsedAt: null, keys: [] });
    const { key } = await createKey(ann.ctx, NEW_KEY);
    const sent = {
      sender: "ann@backstamp.test",
      to: ["delivered@backstamp.test"],
      html: null,
      subject: null,
    };
    const mail = { ...sent, template: { id, variables: { NAME: "Ann" } } };
    const actor = { kind: "key", keyId: key.id, scopes: [], domains: [], allDomains: true } as const;
    await console.world.send(mail, { ...ann.ctx, actor });
    await console.world.send(mail, ann.ctx);
    expect((await row())?.lastUsedAt).toMatch(/Z$/);
    expect(await call("use", { id })).toEqual({
      lastUsedAt: expect.stringMatching(/Z$/),
      keys: [null, "Shop"],
    });
  });

  test("searches by part of the name or alias, without wildcards", async () => {
    const { id } = await make({ name: "100%_Off today", alias: "sale-of-spring" });
    const found = async (search: string) => (await call<Rows>("list", { search })).rows.map((row) => row.id);
    for (const search of ["100%_off", "OF-SPRING", "%_"]) expect(await found(search)).toEqual([id]);
    expect(await found("100__Off")).toEqual([]);
  });
});

describe("a preview of unsaved content", () => {
  const variable = (key: string, more: object = {}) => ({ key, type: "string", ...more });
  const preview = (draft: object, values: object = {}, withText = false) =>
    call<DraftPreview>("preview", {
      draft: { subject: null, html: "", text: null, variables: [], ...draft },
      values,
      withText,
    });

  test("shows tags without a value unchanged, and lists them", async () => {
    const said = await preview(
      {
        html: "{{A}} {{B}} {{C}} {{N}}",
        variables: [
          variable("A"),
          variable("B", { fallbackValue: "there" }),
          variable("C", { fallbackValue: "" }),
          { key: "N", type: "number" },
        ],
      },
      { N: "seven" },
    );
    expect(said).toMatchObject({ html: "{{A}} there  {{N}}", missing: ["A", "N"], faults: [] });
  });

  test("reports the error of each field and renders the others", async () => {
    const said = await preview({
      subject: "{{#A}}",
      html: "<p>{{A}}</p>",
      text: "{{A",
      variables: [variable("A")],
    });
    expect(said).toMatchObject({ subject: null, html: "<p>{{A}}</p>", text: null });
    expect(said.faults.map(({ field }) => field)).toEqual(["subject", "text"]);
    expect((await preview({ html: "{{A}}{{B}}", variables: [variable("A")] })).faults).toEqual([
      { field: "variables", message: expect.stringContaining("“B”") },
    ]);
    const long = await preview({ subject: "{{A}}", html: "x", variables: [variable("A")] }, { A: "a\nb" });
    expect(long.faults).toEqual([{ field: "subject", message: expect.stringContaining("subject") }]);
  });

  test("generates the text part from the HTML on request", async () => {
    const draft = { html: "<h1>Hi {{A}}</h1><p>Bye</p>", variables: [variable("A")] };
    expect((await preview(draft, { A: "Ann" })).text).toBeNull();
    expect((await preview(draft, { A: "Ann" }, true)).text).toBe("Hi Ann\n\nBye");
    expect((await preview({ ...draft, text: "" }, { A: "Ann" }, true)).text).toBe("");
  });
});

describe("a test email", () => {
  test("has the content of the editor, uses the normal delivery, and is marked as a test", async () => {
    const { id } = await make({ subject: "Hi {{NAME}}" });
    await save(await open(id), { from: "Ann <ann@backstamp.test>" });
    const to = "delivered+test@backstamp.test";
    const sent = await call<{ id: string }>("sendTest", { id, from: null, to, values: { NAME: "<Ann>" } });
    expect(await getEmail(ann.ctx, sent.id)).toMatchObject({
      subject: "Hi <Ann>",
      html: "<p>Hi &lt;Ann&gt;</p>",
      sender: "Ann <ann@backstamp.test>",
      to: [to],
      tags: [{ name: "template_test", value: "true" }],
    });
    expect((await audited(id))[0]).toEqual({ action: "template.test_sent", version: 1, email: sent.id });
  });

  test("is rejected from a domain of another team, and without required values", async () => {
    const { id } = await make({ subject: "Hi" });
    const to = "delivered@backstamp.test";
    const from = "ann@backstamp.test";
    expect(
      await refusal("sendTest", { id, from: "a@foreign.example", to, values: { NAME: "x" } }),
    ).toMatchObject({
      code: "FORBIDDEN",
    });
    expect(await refusal("sendTest", { id, from, to, values: {} })).toMatchObject(refused(/“NAME”/));
    expect(await refusal("sendTest", { id, from: null, to, values: { NAME: "x" } })).toMatchObject(
      refused(/^From: /),
    );
  });
});

describe("the document with images", () => {
  const body = async (id: string, values: string, cookies = noCookies) =>
    answerTemplateBody(console.deps, cookies, { team: ann.teamId, id, values });

  test("may only load images, and is available only to members of the team", async () => {
    const { id } = await make({ html: `<img src="https://example.com/a.png"><script>1</script>{{NAME}}` });
    const cookies = await console.cookiesOf(ann.userIds.viewer);
    const response = await body(id, `{"NAME":"<b>"}`, cookies);
    expect(response.status).toBe(200);
    const policy = response.headers.get("content-security-policy") ?? "";
    expect(policy).toMatch(/^sandbox; default-src 'none';/);
    expect(policy).toContain("img-src data: https:");
    expect(await response.text()).toContain("&lt;b&gt;");
    expect((await body(id, "{}")).status).toBe(401);
    const stranger = await createRoleTeam(console, "Ben's");
    const foreign = await console.cookiesOf(stranger.userIds.owner);
    expect((await body(id, "{}", foreign)).status).toBe(404);
    for (const values of ["", "[", "[]", `{"NAME":"${"x".repeat(30_000)}"}`])
      expect((await body(id, values, cookies)).status, values.slice(0, 20)).toBe(422);
  });
});
