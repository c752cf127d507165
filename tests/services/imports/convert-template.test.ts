import { expect, test } from "vitest";
import { convertTemplate } from "#server/services/imports/convert-template";
import { PROVIDERS } from "#server/services/imports/providers";
import type { ProviderName } from "#server/services/imports/providers/provider";

const convert = (html: string, from: ProviderName = "postmark", fallbacks = {}) =>
  convertTemplate({ subject: null, html, text: "" }, PROVIDERS[from].tags, fallbacks);

test.each<[string, string, ProviderName?]>([
  ["Hi {{name}} and {{{ link }}}", "Hi {{name}} and {{{link}}}"],
  ["{{&link}}", "{{{link}}}"],
  ["a{{! a note }}b{{!-- {{x}} --}}c", "abc"],
  ["{{user.first-name}} {{user.first-name}}", "{{user_first_name}} {{user_first_name}}"],
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
  const tags = '{{insert a.b "default=x"}}{{a.b}}{{n}}{{LAST_NAME}}';
  expect(convert(tags, "sendgrid", { n: 5 })).toMatchObject({
    variables: [
      { key: "a_b", type: "string", fallbackValue: "x" },
      { key: "n", type: "number", fallbackValue: 5 },
      { key: "LAST_NAME_value", type: "string", fallbackValue: null },
    ],
    renamed: [
      { from: "a.b", to: "a_b" },
      { from: "LAST_NAME", to: "LAST_NAME_value" },
    ],
  });
});

test.each<[string, string, ProviderName?]>([
  ["{{#if paid}}", "A block"],
  ["{{#each items}}", "A block"],
  ["{{^items}}", "An inverted block"],
  ["{{/if}}", "The end of a block"],
  ["{{else}}", "`else`"],
  ["{{> footer}}", "A partial"],
  ["{{~name~}}", "Whitespace control"],
  ["{{formatDate at}}", "A helper"],
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
  expect(convert("{{a.b}}{{a_b}}").unmapped).toMatchObject([{ tag: "{{a_b}}" }]);
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
