import { expect, test } from "vitest";
import { convertTemplate } from "#server/services/imports/convert-template";
import { PROVIDERS } from "#server/services/imports/providers";
import type { ProviderName } from "#server/services/imports/providers/provider";
import { parseTemplate } from "#server/services/templates/fill-template";

const convert = (html: string, from: ProviderName = "postmark", fallbacks = {}) =>
  convertTemplate({ subject: null, html, text: "" }, PROVIDERS[from].tags, fallbacks);

test.each<[string, string, ProviderName?]>([
  ["Hi {{name}} and {{{ link }}}", "Hi {{name}} and {{{link}}}"],
  ["{{&link}}", "{{{link}}}"],
  ["a{{! a note }}b{{!-- {{x}} --}}c", "abc"],
  ["{{user.city}} {{user.first-name}}", "{{user.city}} {{user.first_name}}"],
  ["{{#if a.b}}x{{else}}{{y}}{{/if}}", "{{#if a.b}}x{{else}}{{y}}{{/if}}", "sendgrid"],
  ["{{# if a }}{{ else }}{{/ if }}", "{{#if a}}{{else}}{{/if}}", "ses"],
  [
    "{{#each a}}{{this.n}} {{@index}}{{#if EMAIL}}{{{this}}}{{/if}}{{else}}{{EMAIL}}{{/each}}",
    "{{#each a}}{{this.n}} {{@index}}{{#if EMAIL}}{{{this}}}{{/if}}{{else}}{{EMAIL_value}}{{/each}}",
    "mailgun",
  ],
  ["{{#each a}}{{.}}{{n}}{{/each}}", "{{#each a}}{{this}}{{n}}{{/each}}", "postmark"],
  [
    "{{#a.b}}{{.}} {{c}}{{#d}}{{e}}{{/d}}{{/a.b}}{{c}}",
    "{{#if a.b}}{{a.b}} {{a.b.c}}{{#if a.b.d}}{{a.b.d.e}}{{/if}}{{/if}}{{c}}",
    "postmark",
  ],
  [
    "{{#a}}{{#each b}}{{#c}}{{d}}{{/c}}{{e}}{{/each}}{{/a}}",
    "{{#if a}}{{#each a.b}}{{#if c}}{{c.d}}{{/if}}{{e}}{{/each}}{{/if}}",
    "postmark",
  ],
  ["{{EMAIL}}", "{{EMAIL_value}}"],
  ['{{insert city "default=your city"}}', "{{city}}", "sendgrid"],
  ["{{{CITY|your city}}}", "{{{CITY}}}", "resend"],
  ["no tags { } }} %", "no tags { } }} %", "mailgun"],
])("%s becomes %s", (given, expected, from) => {
  const { fields, unmapped } = convert(given, from);
  expect({ html: fields.html, text: fields.text, unmapped }).toEqual({
    html: expected,
    text: null,
    unmapped: [],
  });
});

test("variables keep their fallbacks, and renamed ones are reported once", () => {
  const tags =
    '{{insert a "default=x"}}{{a}}{{n}}{{LAST_NAME}}{{o.p-q}}{{o.p-q}}{{#each l}}{{x}}{{/each}}{{#if i}}{{/if}}';
  expect(convert(tags, "sendgrid", { n: 5 })).toMatchObject({
    variables: [
      { key: "a", type: "string", fallbackValue: "x" },
      { key: "n", type: "number", fallbackValue: 5 },
      { key: "LAST_NAME_value", type: "string", fallbackValue: null },
      { key: "o", type: "object", fallbackValue: null },
      { key: "l", type: "list", fallbackValue: null },
      { key: "i", type: "string", fallbackValue: null },
    ],
    renamed: [
      { from: "LAST_NAME", to: "LAST_NAME_value" },
      { from: "o.p-q", to: "o.p_q" },
    ],
  });
});

test.each<[string, string, ProviderName?]>([
  ["{{#if paid}}", "A block that is not closed", "sendgrid"],
  ["{{#each items}}", "A block that is not closed"],
  ["{{#if paid}}", "An expression in `if`", "resend"],
  ["{{#if (eq a b)}}", "An expression in `if`", "ses"],
  ["{{#unless paid}}", "The block `unless`", "sendgrid"],
  ["{{#equals a b}}", "The block `equals`", "sendgrid"],
  ["{{#person}}", "The block `person`", "mailgun"],
  ["{{~#if paid}}", "Whitespace control", "mailgun"],
  ["{{^items}}", "An inverted block"],
  ["{{/if}}", "The end of a block"],
  ["{{else}}", "`else`"],
  ["{{@root.a}}", "The value `@root.a`", "ses"],
  ["{{../a}}", "An expression", "ses"],
  ['{{insert a.b "default=x"}}', "The fallback of a field", "sendgrid"],
  ["{{> footer}}", "A partial"],
  ["{{~name~}}", "Whitespace control"],
  ["{{formatDate at}}", "The helper `formatDate`"],
  ["{{this}}", "An expression"],
  ["{{.}}", "An expression"],
  ["{{items.[0]}}", "An expression"],
  ["{{{pm:unsubscribe}}}", "An expression"],
  ["{{open", "A tag that is not closed"],
  ["{{}}", "An expression"],
  [`{{${"x".repeat(51)}}}`, "A variable whose name is too long"],
  ["{{{unsubscribe}}}", "The provider fills it in", "sendgrid"],
  ["<%body%>", "The provider replaces it", "sendgrid"],
  ["%recipient.name%", "The provider replaces it", "mailgun"],
  ["%unsubscribe_url%", "The provider replaces it", "mailgun"],
  ["{{amazonSESUnsubscribeUrl}}", "The provider fills it in", "ses"],
  ["{{{RESEND_UNSUBSCRIBE_URL}}}", "The provider fills it in", "resend"],
])("%s does not map, and stays readable", (tag, reason, from) => {
  const { fields, unmapped } = convert(`<p>\n{{a}}\n${tag}`, from);
  expect(unmapped).toMatchObject([{ field: "html", line: 3, reason: expect.stringContaining(reason) }]);
  expect(fields.html).toMatch(/^<p>\n\{\{a\}\}\n\[\[.*\]\]/s);
});

test("two names that would be equal here are not merged", () => {
  expect(convert("{{a-b}}{{a_b}}").unmapped).toMatchObject([{ tag: "{{a_b}}" }]);
});

test.each<[string, string, string[]]>([
  [
    "{{#if a}}{{#unless b}}x{{else}}y{{/unless}}{{else}}z{{/if}}",
    "{{#if a}}[[#unless b]]x[[else]]y[[/unless]]{{else}}z{{/if}}",
    ["{{#unless b}}", "{{else}}", "{{/unless}}"],
  ],
  [
    "{{#if a}}x{{else if b}}y{{else}}z{{/if}}",
    "{{#if a}}x[[else if b]]y[[else]]z{{/if}}",
    ["{{else if b}}", "{{else}}"],
  ],
  ["{{#if a}}{{#each b}}{{c}}{{/if}}", "{{#if a}}[[#each b]]{{c}}{{/if}}", ["{{#each b}}"]],
  ["{{#if a}}{{else}}{{else}}{{/if}}", "{{#if a}}{{else}}[[else]]{{/if}}", ["{{else}}"]],
])("of %s, what is not reported remains valid", (given, expected, tags) => {
  const { fields, unmapped } = convert(given, "sendgrid");
  expect(fields.html).toBe(expected);
  expect(unmapped.map(({ tag }) => tag)).toEqual(tags);
  expect(() => parseTemplate("html", fields.html ?? "")).not.toThrow();
});

test("blocks are kept to the depth that templates have", () => {
  const { fields, unmapped } = convert(`${"{{#if a}}".repeat(11)}x${"{{/if}}".repeat(11)}`, "sendgrid");
  expect(unmapped.map(({ tag }) => tag)).toEqual(["{{#if a}}", "{{/if}}"]);
  expect(() => parseTemplate("html", fields.html ?? "")).not.toThrow();
});

test("lines are counted across tags of several lines, in each field", () => {
  const { unmapped } = convertTemplate(
    { subject: "{{#a}}", html: "1\n{{! 2\n3 }}\n{{/a}}", text: "1\r\n{{else}}" },
    PROVIDERS.ses.tags,
  );
  expect(unmapped.map(({ field, line, tag }) => [field, line, tag])).toEqual([
    ["subject", 1, "{{#a}}"],
    ["html", 4, "{{/a}}"],
    ["text", 2, "{{else}}"],
  ]);
});

test("a large field full of opened tags is converted in linear time", () => {
  const open = "{{".repeat(200_000);
  expect(convert(open, "mailgun").unmapped.length).toBeGreaterThan(0);
});
