import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { getTemplate } from "#server/services/templates/read";
import { type WriteWatch, watchWrites } from "../../support/database/write-watch";
import { runCommand } from "../../support/processes/command-line";
import { type HttpSink, startHttpSink } from "../../support/servers/http-sink";
import { createWorld, type World } from "../../support/world";
import { json, TEMPLATE_FILES } from "./template-files";

let world: World;
let watch: WriteWatch;
beforeAll(async () => {
  world = await createWorld();
  watch = await watchWrites(world.hot);
});
afterAll(() => world.close());

const run = (args: string[], input = "", more = {}) =>
  runCommand(["import", "templates", ...args], {
    env: { DATABASE_URL: world.databaseUrl, BACKSTAMP_EGRESS_ALLOW: "127.0.0.0/8", ...more },
    input,
  });

async function report(args: string[], input = "", more = {}) {
  const { code, stdout, stderr } = await run([...args, "--json"], input, more);
  expect({ code, stderr: code === 0 ? "" : stderr }).toEqual({ code: 0, stderr: "" });
  return JSON.parse(stdout);
}

async function stored(alias: string) {
  const { name, version, publishedVersionId } = await getTemplate(world.ctx, alias);
  const { subject, html, text, sender, replyTo, variables } = version;
  const fallbacks = Object.fromEntries(variables.map(({ key, fallbackValue }) => [key, fallbackValue]));
  const status = publishedVersionId === version.id ? "published" : "draft";
  return { alias, name, subject, html, text, sender, replyTo, fallbacks, status };
}

describe.each(TEMPLATE_FILES)("$title", ({ from, text, templates }) => {
  test("the templates are added in our syntax, once, and a dry run writes nothing", async () => {
    await watch.since();
    const planned = await report(["-", "--from", from, "--dry-run"], text);
    expect(planned).toMatchObject({ created: templates.length, skipped: 0, problems: [] });
    expect(await watch.since()).toEqual([]);

    expect({ ...(await report(["-", "--from", from], text)), dry_run: true }).toEqual(planned);
    for (const template of templates) expect(await stored(String(template.alias))).toMatchObject(template);

    await watch.since();
    const again = await report(["-", "--from", from, "--replace"], text);
    expect(again).toMatchObject({ created: 0, replaced: 0, existing: templates.length });
    expect(await watch.since()).toEqual([]);
  });
});

const ses = (name: string, html: string) =>
  json({ TemplateName: name, TemplateContent: { Subject: "S", Html: html } });

test("an existing template is overwritten only with --replace, and the new version is published", async () => {
  await report(["-", "--from", "ses"], ses("kept", "<p>1</p>"));
  await watch.since();
  const second = await report(["-", "--from", "ses"], ses("kept", "<p>2</p>"));
  expect(second).toMatchObject({ existing: 1, templates: [{ outcome: "existing", differs: true }] });
  expect(
    await report(["-", "--from", "ses", "--replace", "--dry-run"], ses("kept", "<p>2</p>")),
  ).toMatchObject({ replaced: 1 });
  expect(await watch.since()).toEqual([]);
  expect(await stored("kept")).toMatchObject({ html: "<p>1</p>" });

  expect(await report(["-", "--from", "ses", "--replace"], ses("kept", "<p>2</p>"))).toMatchObject({
    replaced: 1,
  });
  expect(await stored("kept")).toMatchObject({ html: "<p>2</p>", status: "published" });
});

test("a template with tags that do not map is skipped with their lines, or becomes a draft that no send can use", async () => {
  const text = ses("Blocks", "<p>\n{{#unless a}}\n{{user.first-name}}{{/unless}}</p>");
  const { code, stdout } = await run(["-", "--from", "ses"], text);
  expect(code).toBe(0);
  expect(stdout).toContain("Added 0 of 1 templates");
  expect(stdout).toContain("  Blocks: 2 tags do not map. Use --drafts to import it as a draft.");
  expect(stdout).toContain("  html, line 2, Blocks: {{#unless a}} does not map. The block `unless`;");
  expect(stdout).toContain("  html, line 3, Blocks: {{/unless}} does not map.");
  await expect(getTemplate(world.ctx, "blocks")).rejects.toThrow("Template not found");

  const drafted = await run(["-", "--from", "ses", "--drafts"], text);
  expect(drafted.stdout).toContain(
    "  Blocks: created, draft, alias blocks\n    The variable user.first-name is user.first_name here.",
  );
  expect(await stored("blocks")).toMatchObject({
    status: "draft",
    html: "<p>\n[[#unless a]]\n{{user.first_name}}[[/unless]]</p>",
  });
  const { token } = await world.key();
  const body = {
    from: "a@example.org",
    to: "b@example.net",
    subject: "x",
    template: { id: "blocks", variables: { user: { first_name: "A" } } },
  };
  expect((await world.api("POST", "/api/emails", { token, body })).status).toBe(422);
});

test("conditions, lists and paths are imported, and sends evaluate them", async () => {
  const html = "<p>{{#if a.b}}{{a.b}}{{else}}none{{/if}}{{#each c}} {{@index}}:{{this.d}}{{/each}}</p>";
  expect(await report(["-", "--from", "ses"], ses("evaluated", html))).toMatchObject({
    created: 1,
    problems: [],
    templates: [{ status: "published", renamed: [] }],
  });
  const { token } = await world.key();
  const template = { id: "evaluated", variables: { a: { b: "x" }, c: [{ d: 1 }, { d: 2 }] } };
  const body = { from: "a@example.org", to: "b@example.net", template };
  const { body: sent } = await world.api("POST", "/api/emails", { token, body });
  expect((await world.api("GET", `/api/emails/${sent.id}`, { token })).body).toMatchObject({
    html: "<p>x 0:1 1:2</p>",
  });
});

test("a missing layout, missing content, an unusable address and too many variables are explained", async () => {
  const postmark = {
    TemplateId: 9,
    Name: "Framed",
    Alias: "framed",
    Active: true,
    LayoutTemplate: "none",
    HtmlBody: "x",
  };
  expect(await report(["-", "--from", "postmark"], json(postmark))).toMatchObject({
    skipped: 1,
    problems: [{ name: "Framed", reason: 'Its layout "none" is not part of the source. Add its document.' }],
  });
  expect(
    await report(["-", "--from", "ses"], json({ TemplatesMetadata: [{ TemplateName: "n" }] })),
  ).toMatchObject({
    problems: [{ name: "n", reason: expect.stringContaining("has its name but not its content") }],
  });
  const headers = { From: "{{sender}}" };
  expect(
    await report(
      ["-", "--from", "mailgun"],
      json({ template: { name: "s", id: "s", version: { template: "x", headers } } }),
    ),
  ).toMatchObject({
    created: 1,
    templates: [{ notes: [expect.stringContaining("The address {{sender}} is not imported")] }],
  });
  const many = Array.from({ length: 51 }, (_, n) => `{{v${n}}}`).join("");
  expect(await report(["-", "--from", "ses"], ses("many", many))).toMatchObject({
    problems: [{ name: "many", reason: expect.stringContaining("more than 50 variables") }],
  });
});

describe("from the API", () => {
  let api: HttpSink;
  const version = { active: 1, subject: "S", html_content: "<p></p>", plain_content: "" };
  const respond: Record<string, unknown> = {
    "/v3/templates?generations=legacy,dynamic&page_size=200": {
      result: [{ id: "d-api", name: "A", generation: "dynamic", versions: [] }],
      _metadata: { next: "/v3/templates?page_token=2" },
    },
    "/v3/templates?page_token=2": {
      result: [{ id: "d-api2", name: "B", generation: "dynamic", versions: [] }],
      _metadata: {},
    },
    "/v3/templates/d-api": { id: "d-api", name: "A", generation: "dynamic", versions: [version] },
    "/v3/templates/d-api2": { id: "d-api2", name: "B", generation: "dynamic", versions: [version] },
    "/templates?Count=500&Offset=0&TemplateType=All": {
      TotalCount: 1,
      Templates: [{ TemplateId: 7, Name: "P", Alias: "p-api", Active: true }],
    },
    "/templates/7": {
      TemplateId: 7,
      Name: "P",
      Alias: "p-api",
      Active: true,
      Subject: "S",
      HtmlBody: "<p></p>",
    },
    "/v4/domains?limit=1000&skip=0": { total_count: 1, items: [{ name: "mg.example" }] },
    "/v3/mg.example/templates?limit=100": {
      items: [{ name: "m api", id: "1" }],
      paging: { next: "/v3/mg.example/templates?page=next" },
    },
    "/v3/mg.example/templates?page=next": { items: [], paging: {} },
    "/v3/mg.example/templates/m%20api?active=yes": {
      template: { name: "m api", id: "1", version: { template: "<p></p>" } },
    },
    "/templates?limit=100": {
      object: "list",
      has_more: false,
      data: [{ id: "r1", name: "R", status: "published" }],
    },
    "/templates/r1": {
      object: "template",
      id: "r1",
      name: "R",
      alias: "r-api",
      status: "published",
      html: "<p></p>",
    },
  };
  beforeAll(async () => {
    api = await startHttpSink(({ path }) => ({
      status: path in respond ? 200 : 404,
      body: JSON.stringify(respond[path]),
    }));
  });
  afterAll(() => api.close());

  test.each([
    ["sendgrid", ["d-api", "d-api2"]],
    ["postmark", ["p-api"]],
    ["mailgun", ["m-api"]],
    ["resend", ["r-api"]],
  ])("%s: each template is read with its content", async (from, aliases) => {
    const key = { [`${from.toUpperCase()}_API_KEY`]: "k" };
    const done = await report(["--from", from, "--api-url", `http://127.0.0.1:${api.port}`], "", key);
    expect(done.templates.map(({ alias, outcome }: Record<string, string>) => [alias, outcome])).toEqual(
      aliases.map((alias) => [alias, "created"]),
    );
  });
});
