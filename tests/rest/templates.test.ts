import { describe, expect, test } from "vitest";
import { rejected } from "../support/rejected";
import { openTestApp } from "./test-app";

const { world, call, ok } = await openTestApp();

const make = async (body: object = {}) => {
  const content = { name: "Welcome", html: "<p>Hi {{NAME}}</p>", ...body };
  return String((await ok("POST", "/api/templates", content)).id);
};
const show = (idOrAlias: string) => ok("GET", `/api/templates/${idOrAlias}`);

/** Sends an email with a template and reads it back. */
async function sendWith(template: object, fields: object = {}): Promise<Record<string, unknown>> {
  const sent = await call("POST", "/api/emails", {
    from: "ann@example.org",
    to: "ben@example.net",
    subject: "Hello",
    template,
    ...fields,
  });
  if (sent.status !== 200) return { status: sent.status, message: sent.body.message };
  return (await call("GET", `/api/emails/${sent.body.id}`)).body;
}

describe("a template", () => {
  test("is published on creation, and can be read by id and by alias", async () => {
    const content = {
      alias: "welcome-1",
      subject: "Welcome, {{NAME}}",
      from: "Ann <ann@example.org>",
      reply_to: ["office@example.org"],
      text: "Hi {{NAME}}",
      variables: [
        { key: "NAME", type: "string", fallback_value: "you" },
        { key: "AGE", type: "number", fallback_value: null },
      ],
    };
    const id = await make(content);
    for (const name of [id, "welcome-1"])
      expect(await show(name)).toMatchObject({
        ...content,
        object: "template",
        id,
        status: "published",
        published_at: expect.stringMatching(/Z$/),
        has_unpublished_versions: false,
        current_version_id: expect.any(String),
        published_version_id: expect.any(String),
      });
  });

  test("requires only a name and HTML, and gets its variables from the placeholders", async () => {
    const body = await show(await make({ html: "{{A}} {{{B}}} {{ A }}", subject: "{{C}}" }));
    expect(body).toMatchObject({ alias: null, from: null, reply_to: null, text: null });
    expect((body.variables as { key: string }[]).map(({ key }) => key)).toEqual(["C", "A", "B"]);
  });

  test("is changed as a draft: sends use the published version until the next publish", async () => {
    const id = await make({ html: "<p>old</p>" });
    expect((await call("PATCH", `/api/templates/${id}`, { html: "<p>new</p>" })).body).toEqual({
      object: "template",
      id,
    });
    expect(await show(id)).toMatchObject({
      html: "<p>new</p>",
      status: "published",
      has_unpublished_versions: true,
    });
    expect((await sendWith({ id })).html).toBe("<p>old</p>");
    await call("PATCH", `/api/templates/${id}`, { html: "<p>newer</p>" });
    const published = await call("POST", `/api/templates/${id}/publish`);
    expect({ status: published.status, body: published.body }).toEqual({
      status: 200,
      body: { object: "template", id },
    });
    expect(await show(id)).toMatchObject({ html: "<p>newer</p>", has_unpublished_versions: false });
    expect((await sendWith({ id })).html).toBe("<p>newer</p>");
    expect((await call("POST", `/api/templates/${id}/publish`)).status).toBe(200);
  });

  test("keeps omitted fields, and its name and alias change immediately", async () => {
    const id = await make({ alias: "before", subject: "S", text: "T" });
    await call("PATCH", "/api/templates/before", { name: "Renamed", alias: "after", subject: null });
    expect(await show("after")).toMatchObject({
      id,
      name: "Renamed",
      subject: "S",
      text: "T",
      has_unpublished_versions: false,
    });
    expect((await call("GET", "/api/templates/before")).status).toBe(404);
  });

  test("updated without variables keeps their fallbacks, adds new ones and removes unused ones", async () => {
    const id = await make({
      html: "{{A}} {{B}} {{C}}",
      variables: [
        { key: "A", type: "string", fallback_value: "a" },
        { key: "B", type: "number" },
        { key: "C", type: "string" },
      ],
    });
    await call("PATCH", `/api/templates/${id}`, { html: "{{B}} {{D}}" });
    expect((await show(id)).variables).toMatchObject([
      { key: "A", fallback_value: "a" },
      { key: "B", type: "number" },
      { key: "D", type: "string", fallback_value: null },
    ]);
  });

  test("is 404 after its deletion; email created from it remains", async () => {
    const id = await make();
    const newEmail = await sendWith({ id, variables: { NAME: "Ben" } });
    const { status, body } = await call("DELETE", `/api/templates/${id}`);
    expect({ status, body }).toEqual({ status: 200, body: { object: "template", id, deleted: true } });
    expect((await call("DELETE", `/api/templates/${id}`)).status).toBe(404);
    expect((await call("GET", `/api/emails/${newEmail.id}`)).body).toMatchObject({
      html: "<p>Hi Ben</p>",
      template_id: id,
    });
  });

  test("can use an alias of another team, but not of its own team", async () => {
    await make({ alias: "shared" });
    expect(await call("POST", "/api/templates", { name: "x", html: "x", alias: "shared" })).toMatchObject(
      rejected(409, /alias "shared"/),
    );
    const { token } = await (await world.otherTeam()).key();
    expect(
      (await call("POST", "/api/templates", { name: "x", html: "x", alias: "shared" }, token)).status,
    ).toBe(201);
  });
});

test("the list has no content", async () => {
  const id = await make({ name: "Newest", alias: "newest" });
  const { data } = await ok("GET", "/api/templates?limit=1");
  expect(data).toEqual([
    {
      id,
      name: "Newest",
      alias: "newest",
      status: "published",
      published_at: expect.any(String),
      created_at: expect.any(String),
      updated_at: expect.any(String),
    },
  ]);
});

describe("an email with a template", () => {
  test("uses the template's values unless the call sends its own", async () => {
    const id = await make({
      alias: "full",
      subject: "From the template",
      from: "Template <t@example.org>",
      reply_to: ["r@example.org"],
      text: "Hi {{NAME}}",
    });
    const variables = { NAME: "<Ben>" };
    expect(await sendWith({ id: "full", variables }, { from: undefined, subject: undefined })).toMatchObject({
      from: "Template <t@example.org>",
      reply_to: ["r@example.org"],
      subject: "From the template",
      html: "<p>Hi &lt;Ben&gt;</p>",
      text: "Hi <Ben>",
      template_id: id,
    });
    expect(await sendWith({ id, variables }, { reply_to: "x@example.org" })).toMatchObject({
      from: "ann@example.org",
      reply_to: ["x@example.org"],
      subject: "Hello",
    });
  });

  test("uses fallbacks, also for null, numbers and booleans", async () => {
    const id = await make({
      html: "{{A}} {{N}} {{B}}{{#if B}}!{{/if}}",
      variables: [
        { key: "A", type: "string", fallback_value: "nobody" },
        { key: "N", type: "number", fallback_value: 0 },
        { key: "B", type: "boolean", fallback_value: false },
      ],
    });
    expect((await sendWith({ id })).html).toBe("nobody 0 false");
    expect((await sendWith({ id, variables: { A: null, N: null, B: null } })).html).toBe("nobody 0 false");
    expect((await sendWith({ id, variables: { A: 7, N: 1.5, B: true } })).html).toBe("7 1.5 true!");
  });

  test.each<[what: string, variables: object, message: RegExp]>([
    ["a missing value", {}, /needs a value for `A`.*`template\.variables`/],
    ["an unknown value", { A: "x", Z: "y" }, /not declare `Z`\. Declared variables: `A`, `N`, `B`/],
    ["a string for a number", { A: "x", N: "1" }, /`template\.variables\.N`: it must be a number/],
    [
      "a value that is an object",
      { A: {} },
      /`template\.variables\.A`: it must be a string, a number, true or false/,
    ],
    [
      "a value that is a list",
      { A: ["x"] },
      /`template\.variables\.A`: it must be a string, a number, true or false/,
    ],
    ["null without a fallback", { A: null, N: null }, /needs a value for `A`/],
    ["a text for a boolean", { A: "x", B: "true" }, /`template\.variables\.B`: it must be true or false/],
    ["a value too long", { A: "x".repeat(2_001) }, /`template\.variables\.A`.*2000/],
    ["a number beyond JSON precision", { A: "x", N: 2 ** 60 }, /`template\.variables\.N`.*string/],
    ["inherited names", { A: "x", toString: "y" }, /not declare `toString`/],
  ])("is rejected for %s", async (_, variables, message) => {
    const id = await make({
      html: "{{A}} {{N}}",
      variables: [
        { key: "A", type: "string" },
        { key: "N", type: "number", fallback_value: 1 },
        { key: "B", type: "boolean", fallback_value: false },
      ],
    });
    const refused = await sendWith({ id, variables });
    expect(refused.message).toMatch(message);
    expect(refused.status).toBe(422);
  });

  test("is rejected if there is no subject", async () => {
    const id = await make({ html: "x" });
    expect(await sendWith({ id }, { subject: undefined })).toMatchObject({
      status: 422,
      message: expect.stringMatching(/`subject`/),
    });
  });
});
