import { describe, expect, test } from "vitest";
import { parseTemplate } from "#server/services/templates/render";
import { changeOf, effectiveVariables, type Fields, fieldsOf } from "../../app/console/templates/[id]/fields";
import { frameDocument } from "../../app/console/templates/[id]/frame-document";
import { keysIn, rawKeysIn, readTags } from "../../app/console/templates/[id]/tags";
import { aliasOf } from "../../app/console/templates/alias";
import { STARTERS } from "../../app/console/templates/starters";

const SOURCES = [
  "",
  "plain",
  "{{A}}",
  "{{ A }} and {{B_2}}",
  "{{{A}}}",
  "{{{ A }}}",
  "{{{A}} }",
  "{{A}}}",
  "{{{{A}}}}",
  "{ {A} }",
  "}}",
  "{{",
  "{{A",
  "{{A}",
  "x {{A\n}} y",
  "{{}}",
  "{{ }}",
  "{{{}}}",
  "{{#A}}x{{/A}}",
  "{{^A}}x{{/A}}",
  "{{>A}}",
  "{{! A }}",
  "{{=<% %>=}}",
  "{{&A}}",
  "{{a.b}}",
  "{{a-b}}",
  "{{a b}}",
  "{{.}}",
  "{{EMAIL}}",
  "{{contact}}",
  "{{constructor}}",
  "{{__proto__}}",
  `{{${"x".repeat(50)}}}`,
  `{{${"x".repeat(51)}}}`,
  `{{${" ".repeat(300)}A}}`,
  "{{ä}}",
  "{{A}}".repeat(5_000),
  "{{A}}".repeat(5_001),
  "{{{A}}} {{#B}}",
  "<style>a{b:c}}</style>{{A}}",
];

describe("editor markers", () => {
  test.each(SOURCES.map((source) => [source.slice(0, 60), source]))(
    "is what a save refuses: %s",
    (_, source) => {
      let isRefused = false;
      let keys: string[] = [];
      try {
        keys = parseTemplate("html", source).flatMap((piece) => ("key" in piece ? [piece.key] : []));
      } catch {
        isRefused = true;
      }
      expect(readTags(source).some(({ kind }) => kind === "fault")).toBe(isRefused);
      if (!isRefused) expect(keysIn(source)).toEqual([...new Set(keys)]);
    },
  );

  test("have the position in the text, and every error has a reason", () => {
    const source = "a {{B}} {{{C}}} {{#D}}";
    expect(readTags(source).map(({ from, to, kind, key }) => [source.slice(from, to), kind, key])).toEqual([
      ["{{B}}", "variable", "B"],
      ["{{{C}}}", "raw", "C"],
      ["{{#D}}", "fault", null],
    ]);
    for (const each of SOURCES)
      for (const { kind, fault } of readTags(each)) expect(fault === null).toBe(kind !== "fault");
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
      replyTo: null,
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
