import { describe, expect, test } from "vitest";
import { openTestApp } from "./test-app";

const { world, call } = await openTestApp();

describe("a template is rejected with a message that names the field", () => {
  const uuid = "018f0000-0000-7000-8000-000000000000";
  const variable = (change: object) => ({
    html: "{{A}}",
    variables: [{ key: "A", type: "string", ...change }],
  });
  test.each<[what: string, body: object, message: RegExp, name?: string]>([
    ["no name", { name: undefined }, /`name`/, "missing_required_field"],
    ["no HTML", { html: undefined }, /`html`/, "missing_required_field"],
    ["an empty HTML", { html: "" }, /`html`/],
    ["HTML that is too long", { html: "x".repeat(1_000_001) }, /`html`.*1,000,000/],
    ["an alias in capitals", { alias: "Welcome" }, /`alias`.*lowercase/],
    ["an alias that looks like an id", { alias: uuid }, /`alias`.*form of an id/],
    ["an unknown field", { title: "x" }, /Unknown field `title`\. Known: name, html/],
    ["an invalid key", variable({ key: "a-b" }), /`variables\[0\].key`.*letters/],
    ["a reserved key", variable({ key: "EMAIL" }), /`variables\[0\].key`.*reserved/],
    ["a fallback of another type", variable({ fallback_value: 1 }), /fallback_value`.*string/],
    [
      "a key declared twice",
      { html: "x", variables: [variable({}).variables[0], variable({}).variables[0]] },
      /`variables\[1\].key`.*twice/,
    ],
    [
      "too many variables",
      { variables: Array.from({ length: 51 }, (_, n) => ({ key: `K${n}`, type: "string" })) },
      /`variables`.*50/,
    ],
    [
      "too many placeholders",
      { html: Array.from({ length: 51 }, (_, n) => `{{K${n}}}`).join("") },
      /50 variables/,
    ],
    ["an undeclared placeholder", { html: "{{A}} {{B}}", variables: variable({}).variables }, /`B`/],
    ["a section", { html: "{{#A}}x{{/A}}" }, /`html`: \{\{#A\}\}/],
    ["a partial", { html: "{{>A}}" }, /`html`: \{\{>A\}\}/],
    ["other delimiters", { html: "{{=<% %>=}}" }, /`html`: /],
    ["a block that is not closed", { html: "a\n {{#if A}}x" }, /line 2, column 2/],
    [
      "a list that is declared as a string",
      { html: "{{#each A}}x{{/each}}", variables: variable({}).variables },
      /`variables`: \{\{#each A\}\} needs a list/,
    ],
    ["code", { html: "{{constructor.constructor('x')()}}" }, /`html`.*not a valid variable name/],
    ["an unclosed tag", { html: "<p>{{A</p>" }, /`html`.*Unclosed.*column 4/],
  ])("%s", async (_, change, message, name = "validation_error") => {
    const { status, body } = await call("POST", "/api/templates", { name: "x", html: "x", ...change });
    expect(body.message).toMatch(message);
    expect({ status, name: body.name }).toEqual({ status: 422, name });
    expect((await world.hot`select 1 from templates`).length).toBe(0);
  });

  test.each([
    ["triple braces", "{{{".repeat(100_000)],
    ["many tags", "{{a}}".repeat(100_000)],
    ["ends of blocks", "{{#each a}}{{/if}}".repeat(50_000)],
  ])("and a hundred thousand %s take negligible time", async (_, html) => {
    const { status } = await call("POST", "/api/templates", { name: "x", html });
    expect([201, 422]).toContain(status);
  });
});

const create = (content: object) => call("POST", "/api/templates", { name: "x", html: "x", ...content });

test("tags of EJS and Jinja are stored with a warning that names field, line and tag, on creation and on update", async () => {
  const made = await create({
    subject: "Hello <%= user.name %>",
    html: "<p>{{A}}</p>\n{% if x %}<b>{%- x -%}</b>{% endif %}\n<%# note %>",
    text: "{# a comment #} 100 % {{A}}",
  });
  expect(made.status).toBe(201);
  expect(made.body.warnings).toEqual([
    expect.stringMatching(/^`subject` has `<%= user\.name %>` on line 1\b.*EJS.*not evaluated.*\{\{name\}\}/),
    expect.stringMatching(/^`html` has `<%# note %>` on line 3\b.*EJS/),
    expect.stringMatching(/^`html` has `\{% if x %\}` on line 2\b.*Jinja/),
    expect.stringMatching(/^`text` has `\{# a comment #\}` on line 1\b.*Jinja/),
  ]);
  const changed = await call("PATCH", `/api/templates/${made.body.id}`, { name: "Renamed" });
  expect(changed.body.warnings).toHaveLength(4);
  const updated = await call("PATCH", `/api/templates/${made.body.id}`, {
    subject: "Hello {{A}}",
    html: "<p>{{A}}</p>",
    text: "{{A}}",
  });
  expect(updated.body).toEqual({ object: "template", id: made.body.id });
});

test("text that only resembles a tag causes no warning, however long it is", async () => {
  const fine = [
    "50 <% 60",
    "a { % b % } c",
    "<%\n",
    `${"<%".repeat(5_000)}`,
    "{{A}}{{{B}}}",
    "p{color:red}#x{%}",
  ];
  for (const html of fine) {
    const { status, body } = await create({ html });
    expect({ html: html.slice(0, 20), status, warnings: body.warnings }).toEqual({
      html: html.slice(0, 20),
      status: 201,
      warnings: undefined,
    });
  }
});
