import { afterAll, beforeAll, expect, test } from "vitest";
import { createWorld, type World } from "../support/world";

let world: World;
let token: string;
beforeAll(async () => {
  world = await createWorld();
  ({ token } = await world.key());
});
afterAll(() => world.close());

const call = (method: string, path: string, body?: unknown) => world.api(method, path, { token, body });
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
