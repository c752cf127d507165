import { describe, expect, test } from "vitest";
import { rejected } from "../support/rejected";
import { openTestApp } from "./test-app";

const { world, call, ok } = await openTestApp();

const make = async (content: object) =>
  String((await ok("POST", "/api/templates", { name: "Blocks", html: "x", ...content })).id);

/** Sends an email with a new template and returns its content, or the error. */
async function send(content: object, variables: object = {}): Promise<Record<string, unknown>> {
  const template = { id: await make(content), variables };
  const { status, body } = await call("POST", "/api/emails", {
    from: "ann@example.org",
    to: "ben@example.net",
    ...("subject" in content ? {} : { subject: "Hello" }),
    template,
  });
  return status === 200
    ? (await call("GET", `/api/emails/${body.id}`)).body
    : { status, name: body.name, message: body.message };
}
const html = async (source: string, variables: object = {}) => (await send({ html: source }, variables)).html;

const ITEMS = [
  { name: "Chair", price: 120, tags: ["oak", "new"] },
  { name: "<Table>", price: 0, tags: [] },
];

describe("a list", () => {
  test("repeats its block with the fields, the item and its position", async () => {
    expect(
      await html("{{#each items}}{{@index}}:{{name}}={{price}}[{{#each tags}}{{this}};{{/each}}]{{/each}}", {
        items: ITEMS,
      }),
    ).toBe("0:Chair=120[oak;new;]1:&lt;Table&gt;=0[]");
  });

  test("is searched from the inner to the outer item, then the variables", async () => {
    const source = "{{name}}: {{#each a}}{{name}} {{#each b}}{{x}}{{y}}{{name}}{{this.x}},{{/each}}{{/each}}";
    expect(await html(source, { name: "root", y: "!", a: [{ b: [{ x: 1 }, { x: 2, name: "own" }] }] })).toBe(
      "root: root 1!root1,2!own2,",
    );
  });

  test("that is empty shows the part after {{else}}", async () => {
    const source = "{{#each items}}{{this}}{{else}}none for {{name}}{{/each}}";
    expect(await html(source, { items: [], name: "Ann" })).toBe("none for Ann");
    expect(await html(source, { items: [1, 2], name: "Ann" })).toBe("12");
  });

  test("takes whole lines for tags that are alone on them", async () => {
    const text = "Items:\n{{#each items}}\n  {{#if name}}\r\n- {{name}}\n  {{/if}}\n{{/each}}\nBye";
    const sent = await send({ html: "<p>x</p>", text }, { items: ITEMS });
    expect(sent.text).toBe("Items:\n- Chair\n- <Table>\nBye");
  });

  test("can be the value of an object or an item, and a path can name an item", async () => {
    const source = "{{#each order.items}}{{name}}{{/each}} {{order.items.1.name}} {{order.user.city}}";
    expect(await html(source, { order: { items: ITEMS, user: { city: "Riga" } } })).toBe(
      "Chair&lt;Table&gt; &lt;Table&gt; Riga",
    );
  });
});

describe("a condition", () => {
  test("is true for values with content", async () => {
    const source = "{{#each list}}{{#if A}}yes{{else}}no{{/if}} {{/each}}";
    const [content, none] = [
      ["x", 1, true, {}, [0]],
      [undefined, "", 0, false, null, []],
    ];
    const list = (values: unknown[]) => ({ list: values.map((A) => ({ A })) });
    expect(await html(source, list(content))).toBe("yes ".repeat(content.length));
    expect(await html(source, list(none))).toBe("no ".repeat(none.length));
  });

  test("makes its variable optional, and nothing else", async () => {
    const source = "{{#if name}}Dear {{name}}{{else}}Hello{{/if}}";
    expect(await html(source)).toBe("Hello");
    expect(await html(source, { name: "Ann" })).toBe("Dear Ann");
    expect(await send({ html: `${source} {{name}} {{city}}` }, { city: "Riga" })).toMatchObject({
      status: 422,
      name: "missing_required_field",
      message: expect.stringMatching(/needs a value for `name`/),
    });
    expect(await send({ html: `${source} {{city}}` })).toMatchObject({
      message: expect.stringMatching(/needs a value for `city`/),
    });
  });

  test("in the template's subject makes its variable optional, also if the email has a subject of its own", async () => {
    const id = await make({ subject: "Order{{#if note}}: {{note}}{{/if}}", html: "x" });
    const email = { from: "ann@example.org", to: "ben@example.net", template: { id } };
    for (const subject of [undefined, "Own"]) {
      const { status, body } = await call("POST", "/api/emails", { ...email, subject });
      expect(status).toBe(200);
      expect((await call("GET", `/api/emails/${body.id}`)).body.subject).toBe(subject ?? "Order");
    }
  });

  test("in a subject gives one line, and a value with a line break is rejected", async () => {
    const subject = "Order{{#if note}}: {{note}}{{/if}}{{#each tags}} {{this}}{{/each}}";
    const html = "x";
    expect((await send({ subject, html }, { note: "a&b", tags: ["c", "<d>"] })).subject).toBe(
      "Order: a&b c <d>",
    );
    expect(await send({ subject, html }, { tags: ["a\r\nBcc: x@example.com"] })).toMatchObject({
      status: 422,
      message: expect.stringMatching(/`subject`.*one line/),
    });
  });
});

describe("values", () => {
  test("are escaped in HTML at any depth, except in triple braces, and never parsed for tags", async () => {
    const source = '{{#each a}}{{{x}}}|{{x}}|{{#if x}}<a href="{{x}}">{{/if}}{{/each}}';
    expect(await html(source, { a: [{ x: '<b>"{{x}}' }] })).toBe(
      '<b>"{{x}}|&lt;b&gt;&quot;{{x}}|<a href="&lt;b&gt;&quot;{{x}}">',
    );
  });

  test.each(["constructor", "length", "o.__proto__.polluted", "o.list.length"])(
    "%s is not read from a prototype",
    async (path) => {
      const sent = await send(
        { html: `{{#each list}}{{${path}}}{{/each}}` },
        { list: [{ a: 1 }], ...(path.startsWith("o.") && { o: { list: [1], text: "x" } }) },
      );
      expect(sent).toMatchObject({ status: 422, message: expect.stringContaining("needs a value for") });
    },
  );

  test("with the name of an inherited property are read if they are the item's own", async () => {
    expect(await html("{{#each list}}{{constructor}}{{/each}}", { list: [{ constructor: "own" }] })).toBe(
      "own",
    );
  });

  test("that are missing in an item are named", async () => {
    expect(await send({ html: "{{#each items}}{{name}}{{/each}}" }, { items: [{ name: "a" }, {}] })).toEqual({
      status: 422,
      name: "missing_required_field",
      message: expect.stringContaining("needs a value for `items[1].name`"),
    });
    expect(await send({ html: "{{user.city}}" }, { user: { city: null } })).toMatchObject({
      message: expect.stringContaining("needs a value for `user.city`"),
    });
    expect(await send({ html: "{{#each user.items}}x{{/each}}" }, { user: {} })).toMatchObject({
      message: expect.stringContaining("needs a value for `user.items`"),
    });
  });

  test("come from fallbacks, and have the declared type", async () => {
    const content = {
      html: "{{#each items}}{{name}}{{/each}} {{user.city}}",
      variables: [
        { key: "items", type: "list", fallback_value: [{ name: "Chair" }] },
        { key: "user", type: "object", fallback_value: { city: "Riga" } },
      ],
    };
    expect((await send(content)).html).toBe("Chair Riga");
    const id = await make(content);
    expect((await call("GET", `/api/templates/${id}`)).body.variables).toMatchObject(content.variables);
    expect(await send(content, { items: {} })).toMatchObject({
      status: 422,
      message: expect.stringMatching(/`template\.variables\.items`: it must be a list/),
    });
    expect(await send(content, { user: [] })).toMatchObject({
      message: expect.stringMatching(/`template\.variables\.user`: it must be an object/),
    });
  });

  test("of the wrong kind are named where they are used", async () => {
    const item = "{{#each a}}{{x}}{{/each}}";
    expect(await send({ html: item }, { a: [{ x: [1] }] })).toMatchObject({
      status: 422,
      message: expect.stringMatching(/`html`: \{\{x\}\} cannot insert `a\[0\]\.x`, which is a list/),
    });
    expect(
      await send({ html: "{{#each a}}{{#each x}}{{/each}}{{/each}}" }, { a: [{ x: "s" }] }),
    ).toMatchObject({
      message: expect.stringMatching(/\{\{#each x\}\} needs a list, and `a\[0\]\.x` is a string/),
    });
  });

  test("that only other tags than those of lists use must be declared", async () => {
    expect(await send({ html: "{{#each a}}{{x}}{{/each}}" }, { a: [], y: 1 })).toMatchObject({
      status: 422,
      message: expect.stringMatching(/not declare `y`/),
    });
  });
});

describe("the limit", () => {
  const numbers = (count: number) => Array.from({ length: count }, (_, n) => n);
  test.each(["", "?dry_run=true"])(
    "of a batch%s fill in to at most what a request may contain",
    async (query) => {
      const html = `{{#each a}}{{#each b}}${"x".repeat(980)}{{/each}}{{/each}}`;
      const items = Array.from({ length: 70 }, () => ({}));
      const id = await make({ html, subject: "Hello" });
      const before = await world.rowCounts();
      const email = {
        from: "ann@example.org",
        to: "ben@example.net",
        template: { id, variables: { a: items, b: items } },
      };
      const body = Array.from({ length: 100 }, () => email);
      expect(await call("POST", `/api/emails/batch${query}`, body)).toMatchObject(
        rejected(413, /fill in to more than \d+ bytes.*fewer emails/),
      );
      expect(await world.rowCounts()).toEqual(before);
    },
  );

  test.each<[what: string, html: string, variables: object, message: RegExp]>([
    ["of levels", "{{#each a}}{{/each}}", { a: [[[[[[]]]]]] }, /variables\.a.*5 lists and objects/],
    [
      "of values",
      "{{#each a}}{{/each}}",
      { a: Array(11).fill(numbers(1_000)) },
      /variables`: At most 10,000 values/,
    ],
    ["of items", "{{#each a}}{{/each}}", { a: numbers(1_001) }, /variables\.a` has more than 1000 items/],
    ["of bytes", "{{#each a}}{{/each}}", { a: Array(101).fill("x".repeat(2_000)) }, /200,000 bytes/],
    ["of characters", "{{#each a}}{{/each}}", { a: ["x".repeat(2_001)] }, /variables\.a\[0\].*2000/],
    ["of numbers", "{{#each a}}{{/each}}", { a: [2 ** 60] }, /variables\.a\[0\].*string/],
    [
      "of repetitions",
      "{{#each a}}{{#each b}}{{/each}}{{/each}}",
      { a: numbers(100), b: numbers(100) },
      /`html` repeats blocks more than 5,000 times/,
    ],
    [
      "of tags",
      `{{#each a}}${"{{@index}}".repeat(100)}{{/each}}`,
      { a: numbers(300) },
      /`html` inserts more than 20,000 values/,
    ],
    [
      "of the result",
      `{{#each a}}${"x".repeat(6_000)}{{/each}}`,
      { a: numbers(1_000) },
      /`html` is longer than 5,000,000/,
    ],
  ])("%s is an error that names it", async (_, source, variables, message) => {
    const refused = await send({ html: source }, variables);
    expect(refused.message).toMatch(message);
    expect(refused.status).toBe(422);
  });
});

describe("fallback values", () => {
  const numbers = (count: number) => Array.from({ length: count }, (_, n) => n);
  const declare = (...fallbacks: unknown[]) =>
    fallbacks.map((fallback_value, n) => ({ key: `list_${n}`, type: "list", fallback_value }));

  test.each<[what: string, variables: object[], message: RegExp]>([
    ["levels", declare([[[[[[]]]]]]), /variables\[0\]\.fallback_value.*5 lists and objects/],
    ["items", declare(numbers(1_001)), /variables\[0\]\.fallback_value` has more than 1000 items/],
    ["values", declare(...Array(2).fill(Array(6).fill(numbers(1_000)))), /`variables`.*10,000 values/],
    ["bytes", declare(...Array(2).fill(Array(60).fill("x".repeat(2_000)))), /`variables`.*200,000 bytes/],
  ])("have the limits of the values of an email: %s", async (_, variables, message) => {
    const id = await make({});
    const before = await call("GET", `/api/templates/${id}`);
    for (const [method, path] of [
      ["POST", "/api/templates"],
      ["PATCH", `/api/templates/${id}`],
    ] as const) {
      expect(await call(method, path, { name: "Blocks", html: "x", variables })).toMatchObject(
        rejected(422, message),
      );
    }
    expect((await call("GET", `/api/templates/${id}`)).body).toEqual(before.body);
  });
});

test("batches, dry runs and previews take lists and objects", async () => {
  const id = await make({ html: "{{#each items}}{{name}} {{/each}}", subject: "S" });
  const variables = { items: ITEMS };
  const email = { from: "ann@example.org", to: "ben@example.net", template: { id, variables } };
  const batch = await call("POST", "/api/emails/batch", [email, email]);
  expect(batch.status, batch.text).toBe(200);
  const dry = await call("POST", "/api/emails?dry_run=true", email);
  expect(dry.status, dry.text).toBe(200);
  const wrong = { ...email, template: { id, variables: { items: [{}] } } };
  expect(await call("POST", "/api/emails/batch", [email, wrong])).toMatchObject(
    rejected(422, "`items[0].name`"),
  );
  expect((await call("POST", `/api/templates/${id}/preview`, { variables })).body).toMatchObject({
    html: "Chair &lt;Table&gt; ",
    subject: "S",
  });
});

test("a variable changes its type with its use, unless it has a fallback", async () => {
  const id = await make({ html: "{{A}}" });
  expect((await call("PATCH", `/api/templates/${id}`, { html: "{{#each A}}{{this}}{{/each}}" })).status).toBe(
    200,
  );
  expect((await call("GET", `/api/templates/${id}`)).body.variables).toMatchObject([
    { key: "A", type: "list" },
  ]);
});
