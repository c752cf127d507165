import { describe, expect, test } from "vitest";
import { openTestApp } from "./test-app";

type Version = { id: string; number: number; status: string; subject: string | null };

// A call that waits too long for one of these connections gets 503.
const { world, call, ok } = await openTestApp({ connectionsMax: 16 });

let made = 0;
/** Creates a published template; returns its id and alias. */
async function make(body: object = {}): Promise<{ id: string; alias: string }> {
  const alias = `template-${++made}`;
  const html = "<p>Hi {{NAME}}</p>";
  const { id } = await ok("POST", "/api/templates", {
    name: "Welcome",
    alias,
    subject: "One",
    html,
    ...body,
  });
  return { id: String(id), alias };
}
const change = (alias: string, body: object) => ok("PATCH", `/api/templates/${alias}`, body);
const versions = async (alias: string) =>
  (await ok("GET", `/api/templates/${alias}/versions`)).data as Version[];
const states = async (alias: string) =>
  (await versions(alias)).map(({ number, status, subject }) => [number, status, subject]);
const subjectSent = async (alias: string) => {
  const { id } = await ok("POST", "/api/emails", {
    from: "ann@example.org",
    to: "ben@example.net",
    template: { id: alias, variables: { NAME: "Ben" } },
  });
  return (await ok("GET", `/api/emails/${id}`)).subject;
};

describe("versions", () => {
  test("have the states published, draft and earlier", async () => {
    const { alias, id } = await make();
    await change(alias, { subject: "Two" });
    await change(alias, { subject: "Two and a half" });
    expect(await states(alias)).toEqual([
      [2, "draft", "Two and a half"],
      [1, "published", "One"],
    ]);
    await ok("POST", `/api/templates/${alias}/publish`);
    await change(alias, { subject: "Three" });
    expect(await states(id)).toEqual([
      [3, "draft", "Three"],
      [2, "published", "Two and a half"],
      [1, "archived", "One"],
    ]);
    const [, second] = await versions(alias);
    for (const name of [second?.id, 2])
      expect(await ok("GET", `/api/templates/${alias}/versions/${name}`)).toMatchObject({
        object: "template_version",
        id: second?.id,
        template_id: id,
        number: 2,
        status: "published",
        subject: "Two and a half",
        html: "<p>Hi {{NAME}}</p>",
        variables: [{ key: "NAME", type: "string", fallback_value: null }],
      });
  });

  test("of another template or without a match are 404", async () => {
    const [one, two] = [await make(), await make()];
    const [foreign] = await versions(two.alias);
    for (const name of [foreign?.id, "2", "0", "-1", "x", "99999999999"])
      for (const [method, tail] of [
        ["GET", ""],
        ["POST", "/publish"],
      ] as const) {
        const reply = await call(method, `/api/templates/${one.alias}/versions/${name}${tail}`);
        expect(reply, String(name)).toMatchObject({
          status: 404,
          body: { message: "Template version not found" },
        });
      }
  });
});

describe("rolling back", () => {
  test("publishes an earlier version immediately, and the editor continues from it", async () => {
    const { alias, id } = await make();
    await change(alias, { subject: "Two" });
    await ok("POST", `/api/templates/${alias}/publish`);
    expect(await subjectSent(alias)).toBe("Two");
    expect(await ok("POST", `/api/templates/${alias}/versions/1/publish`)).toEqual({
      object: "template",
      id,
    });
    expect(await subjectSent(alias)).toBe("One");
    expect(await ok("GET", `/api/templates/${alias}`)).toMatchObject({
      subject: "One",
      status: "published",
      has_unpublished_versions: false,
    });
    await change(alias, { subject: "Four" });
    await ok("POST", `/api/templates/${alias}/publish`);
    expect(await states(alias)).toEqual([
      [3, "published", "Four"],
      [2, "archived", "Two"],
      [1, "archived", "One"],
    ]);
    expect(await subjectSent(alias)).toBe("Four");
  });

  test("keeps the draft and all versions", async () => {
    const { alias } = await make();
    await change(alias, { subject: "Two" });
    await ok("POST", `/api/templates/${alias}/publish`);
    await change(alias, { subject: "A draft" });
    const before = await versions(alias);
    await ok("POST", `/api/templates/${alias}/versions/${before.at(-1)?.id}/publish`);
    expect(await states(alias)).toEqual([
      [3, "archived", "A draft"],
      [2, "archived", "Two"],
      [1, "published", "One"],
    ]);
    await ok("POST", `/api/templates/${alias}/versions/3/publish`);
    expect(await subjectSent(alias)).toBe("A draft");
    await change(alias, { subject: "After the draft" });
    expect((await states(alias)).slice(0, 2)).toEqual([
      [4, "draft", "After the draft"],
      [3, "published", "A draft"],
    ]);
  });

  test("to the published version changes nothing", async () => {
    const { alias } = await make();
    const before = await ok("GET", `/api/templates/${alias}`);
    await ok("POST", `/api/templates/${alias}/versions/1/publish`);
    expect(await ok("GET", `/api/templates/${alias}`)).toEqual(before);
  });

  test("during concurrent edits and publishes keeps version numbers unique", async () => {
    const { alias } = await make();
    await Promise.all(
      Array.from({ length: 8 }, (_, n) =>
        n % 3 === 0
          ? ok("POST", `/api/templates/${alias}/versions/1/publish`)
          : n % 3 === 1
            ? change(alias, { subject: `Subject ${n}` })
            : ok("POST", `/api/templates/${alias}/publish`),
      ),
    );
    const numbers = (await versions(alias)).map(({ number }) => number);
    expect(numbers).toEqual(numbers.map((_, n) => numbers.length - n));
  });
});

describe("a duplicate", () => {
  test("has the content of the editor, as an unpublished draft", async () => {
    const { alias, id } = await make({
      from: "Ann <ann@example.org>",
      text: "Hi {{NAME}}",
      reply_to: ["office@example.org"],
      variables: [{ key: "NAME", type: "string", fallback_value: "you" }],
    });
    await change(alias, { subject: "A draft" });
    const copy = await ok("POST", `/api/templates/${alias}/duplicate`);
    expect(copy).toEqual({ object: "template", id: expect.any(String) });
    expect(copy.id).not.toBe(id);
    const source = await ok("GET", `/api/templates/${alias}`);
    const { html, text, subject, from, reply_to } = source;
    expect(await ok("GET", `/api/templates/${copy.id}`)).toMatchObject({
      name: "Welcome (copy)",
      alias: null,
      status: "draft",
      published_at: null,
      ...{ html, text, subject, from, reply_to },
      variables: [{ key: "NAME", type: "string", fallback_value: "you" }],
    });
    const newEmail = { to: "ben@example.net", template: { id: copy.id } };
    expect((await call("POST", "/api/emails", newEmail)).status).toBe(422);
    await ok("POST", `/api/templates/${copy.id}/publish`);
    expect((await call("POST", "/api/emails", newEmail)).status).toBe(200);
    await change(String(copy.id), { subject: "Another" });
    expect((await ok("GET", `/api/templates/${alias}`)).subject).toBe("A draft");
  });

  test("of a template with the longest name has a name that fits", async () => {
    const { alias } = await make({ name: `${"x".repeat(192)}😀😀😀😀` });
    const { id } = await ok("POST", `/api/templates/${alias}/duplicate`);
    const { name } = await ok("GET", `/api/templates/${id}`);
    expect(String(name)).toMatch(/^x{192}.* \(copy\)$/u);
    expect(String(name).length).toBeLessThanOrEqual(200);
    expect(String(name)).not.toMatch(/\p{Surrogate}|\ufffd/u);
  });
});

describe("a preview", () => {
  test("renders the draft if there is one, and sends nothing", async () => {
    const { alias, id } = await make({
      subject: "Hi {{NAME}}",
      from: "Ann <ann@example.org>",
      text: "Hi {{NAME}}, {{AGE}}",
      variables: [
        { key: "NAME", type: "string" },
        { key: "AGE", type: "number", fallback_value: 7 },
      ],
    });
    const before = await world.rowCounts();
    const preview = await ok("POST", `/api/templates/${alias}/preview`, { variables: { NAME: "<Ben>" } });
    expect(preview).toEqual({
      object: "template_preview",
      template_id: id,
      version_id: expect.any(String),
      version: 1,
      from: "Ann <ann@example.org>",
      reply_to: null,
      subject: "Hi <Ben>",
      html: "<p>Hi &lt;Ben&gt;</p>",
      text: "Hi <Ben>, 7",
    });
    expect(await world.rowCounts()).toEqual(before);
    await change(alias, { html: "<p>Bye {{NAME}}</p>" });
    const htmlOf = async (version?: unknown) =>
      (await ok("POST", `/api/templates/${alias}/preview`, { variables: { NAME: "Ben" }, version })).html;
    expect(await htmlOf()).toBe("<p>Bye Ben</p>");
    expect(await htmlOf(1)).toBe("<p>Hi Ben</p>");
    expect(await htmlOf(String(preview.version_id))).toBe("<p>Hi Ben</p>");
  });

  test("names values that are missing in its own fields, and is 404 for a missing version", async () => {
    const { alias } = await make({
      variables: [
        { key: "NAME", type: "string" },
        { key: "UNUSED", type: "number" },
      ],
    });
    const path = `/api/templates/${alias}/preview`;
    const refusal = async (body?: object) => {
      const reply = await call("POST", path, body);
      expect(reply.status).toBe(422);
      return reply.body.message;
    };
    expect(await refusal()).toMatch(/`NAME`, `UNUSED`: add it to `variables`/);
    expect(await refusal({ variables: { NAME: "Ben" } })).toMatch(/`UNUSED`: add it/);
    expect((await call("POST", path, { version: 9 })).status).toBe(404);
  });
});
