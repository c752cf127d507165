import { describe, expect, test } from "vitest";
import { parseTemplate } from "#server/services/templates/render";
import { keysIn, rawKeysIn, readTags } from "#server/shared/template-tags";
import { changeOf, effectiveVariables, type Fields, fieldsOf } from "../../app/console/templates/[id]/fields";
import { frameDocument } from "../../app/console/templates/[id]/preview/frame-document";
import { aliasOf } from "../../app/console/templates/alias";
import { STARTERS } from "../../app/console/templates/starters";

describe("editor markers", () => {
  test.each([
    ["{{A}} and {{ B_2 }}{{A}}", ["A", "B_2"]],
    ["{{{ A }}}", ["A"]],
    ["{{A}}}", ["A"]],
    ["{ {A} } }}", []],
    [`{{${"x".repeat(50)}}}`, ["x".repeat(50)]],
    ["{{A}}".repeat(5_000), ["A"]],
    ["<style>a{b:c}}</style>{{A}}", ["A"]],
  ])("are the variables of %s", (source, keys) => {
    expect(readTags(source).filter(({ kind }) => kind === "fault")).toEqual([]);
    expect(keysIn(source)).toEqual(keys);
  });

  test.each([
    ["{{{{A}}}}", "not a valid variable name"],
    ["{{{A}} }", "Unclosed tag at character 1."],
    ["x {{A\n}} y", null],
    ["x {{A", "Unclosed tag at character 3."],
    ["{{}}", "not a valid variable name"],
    ["{{ #A}}", "is a section"],
    ["{{^A}}x{{/A}}", "is an inverted section"],
    ["x{{/A}}", "is the end of a section"],
    ["{{>A}}", "is a partial"],
    ["{{! A }}", "is a comment"],
    ["{{=<% %>=}}", "is a change of delimiters"],
    ["{{&A}}", "is an unescaped variable"],
    ["{{a.b}}", "not a valid variable name"],
    ["{{__proto__}}", null],
    ["{{constructor}}", null],
    ["{{ä}}", "not a valid variable name"],
    [`{{${"x".repeat(51)}}}`, "not a valid variable name"],
    [`{{${" ".repeat(300)}A}}`, "Unclosed tag at character 1."],
    ["{{EMAIL}}", "reserved"],
    ["{{contact}}", "reserved"],
    ["{{A}}".repeat(5_001), "More than 5,000 placeholders."],
  ])("of %s contain the error, and a save is rejected with the same error", (source, reason) => {
    const fault = readTags(source).find((tag) => tag.kind === "fault")?.fault ?? null;
    if (reason === null) expect(fault).toBeNull();
    else {
      expect(fault).toContain(reason);
      expect(() => parseTemplate("html", source)).toThrow(`\`html\`: ${fault}`);
    }
  });

  test("have the position in the text, and every error has a reason", () => {
    const source = "a {{B}} {{{C}}} {{#D}}";
    expect(readTags(source).map(({ from, to, kind, key }) => [source.slice(from, to), kind, key])).toEqual([
      ["{{B}}", "variable", "B"],
      ["{{{C}}}", "raw", "C"],
      ["{{#D}}", "fault", null],
    ]);
    expect([...rawKeysIn("{{A}} {{{B}}} {{{B}}}")]).toEqual(["B"]);
  });

  test("are computed fast, however many braces there are", () => {
    for (const source of [
      "{{".repeat(100_000),
      "{{{".repeat(100_000),
      "}}".repeat(100_000),
      "{{a}}".repeat(100_000),
    ])
      expect(readTags(source).length).toBeGreaterThanOrEqual(0);
  });
});

describe("fields", () => {
  const fields = (more: Partial<Fields> = {}): Fields => ({
    ...fieldsOf({
      subject: null,
      html: "<p>{{A}}</p>",
      text: null,
      from: null,
      reply_to: null,
      variables: [],
    }),
    ...more,
  });

  test("are declared for used variables, kept with a fallback, and removed otherwise", () => {
    const variables = [
      { key: "OLD", type: "string" as const, isRequired: true, fallback: "" },
      { key: "KEPT", type: "string" as const, isRequired: false, fallback: "x" },
    ];
    expect(effectiveVariables(fields({ variables })).map(({ key }) => key)).toEqual(["KEPT", "A"]);
  });

  test("contain only differences", () => {
    const before = fields();
    expect(changeOf(before, fields())).toEqual({});
    expect(changeOf(before, fields({ subject: "  " }))).toEqual({});
    expect(changeOf(before, fields({ text: "" }))).toEqual({ text: "" });
    expect(changeOf(before, fields({ replyTo: `"Doe, Ann" <ann@example.com>, ben@example.com;` }))).toEqual({
      replyTo: ['"Doe, Ann" <ann@example.com>', "ben@example.com"],
    });
    expect(changeOf(before, fields({ html: "{{B}}" }))).toEqual({
      html: "{{B}}",
      variables: [{ key: "B", type: "string", fallbackValue: null }],
    });
  });
});

describe("the preview's document", () => {
  test("has its content security policy before the author's markup, and keeps the document type", () => {
    for (const html of [
      "<p>x</p>",
      "</head><p>x",
      '<meta http-equiv="Content-Security-Policy" content="default-src *">',
      "<!-- <!doctype html> --><p>x",
      "<script>1</script>",
    ])
      expect(frameDocument(html)).toMatch(
        /^<meta http-equiv="Content-Security-Policy" content="default-src 'none';/,
      );
    for (const doctype of ["<!doctype html>", ' \n<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0">'])
      expect(
        frameDocument(`${doctype}<p>x`).startsWith(`${doctype}<meta http-equiv="Content-Security-Policy"`),
      ).toBe(true);
    // The parser ends a document type at the first ">", also inside quotes.
    expect(frameDocument(`<!doctype html "><script>1</script>">`)).toMatch(/^<!doctype html "><meta/);
  });
});

test("the content of a new template is valid", () => {
  for (const { subject, html } of STARTERS)
    for (const source of [subject, html]) expect(() => parseTemplate("html", source)).not.toThrow();
});

test("a name becomes an alias that the server accepts", () => {
  expect(aliasOf("Welcome, dear Ann!")).toBe("welcome-dear-ann");
  expect(aliasOf("  Überweisung 2 ")).toBe("uberweisung-2");
  expect(aliasOf("你好")).toBe("");
});
