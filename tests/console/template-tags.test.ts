import { describe, expect, test } from "vitest";
import { parseTemplate } from "#server/services/templates/fill-template";
import { parseTags } from "#server/shared/template-tags";
import { keysIn, optionalKeysIn, rawKeysIn, usesIn } from "#server/shared/template-variables";
import {
  aliasOf,
  changeOf,
  effectiveVariables,
  type Fields,
  fieldsOf,
  parseValue,
} from "../../app/console/templates/[id]/fields";
import { frameDocument } from "../../app/console/templates/[id]/preview/frame-document";

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
    expect(parseTags(source).filter(({ kind }) => kind === "fault")).toEqual([]);
    expect(keysIn(source)).toEqual(keys);
  });

  test.each([
    ["{{{{A}}}}", "not a valid variable name"],
    ["{{a.b}}", null],
    ["{{#if A}}x", "{{#if A}} is not closed. Add {{/if}}."],
    ["{{#each A}}{{#if B}}x{{/each}}{{/if}}", "{{/each}} ends no block here. {{#if B}} is open."],
    ["{{#if A}}{{else}}{{else}}{{/if}}", "a second {{else}}"],
    ["{{#each A}}{{EMAIL}}{{this.b}}{{@index}}{{/each}}", null],
    [`{{${" ".repeat(300)}A}}`, "Unclosed tag."],
  ])("of %s contain the error, and a save is rejected with the same error", (source, reason) => {
    const fault = parseTags(source).flatMap((tag) => (tag.kind === "fault" ? tag.fault : []))[0] ?? null;
    if (reason === null) expect(fault).toBeNull();
    else {
      expect(fault).toContain(reason);
      expect(() => parseTemplate("html", source)).toThrow(`\`html\`: ${fault}`);
    }
  });

  test("have the position in the text, and every error has a reason", () => {
    const source = "a {{B}} {{{C}}} {{#if B}} {{else}} {{/if}} {{#D}}";
    expect(parseTags(source).map(({ from, to, kind }) => [source.slice(from, to), kind])).toEqual([
      ["{{B}}", "variable"],
      ["{{{C}}}", "raw"],
      ["{{#if B}}", "if"],
      ["{{else}}", "else"],
      ["{{/if}}", "end"],
      ["{{#D}}", "fault"],
    ]);
    expect(() => parseTemplate("html", "<p>\n  {{#if A}}\n  {{A")).toThrow(/\(line 3, column 3\)$/);
    expect(() => parseTemplate("html", "<p>\n  {{#if A}}\n")).toThrow(/\(line 2, column 3\)$/);
    expect([...rawKeysIn("{{A}} {{{B}}} {{{B}}}")]).toEqual(["B"]);
  });

  test("show which variables a send must provide, and their types", () => {
    const source = "{{#each A}}{{x}}{{/each}}{{#if B}}{{B}}{{/if}}{{C.d}}{{else}}";
    expect([...usesIn(source)].map(([key, uses]) => [key, [...uses]])).toEqual([
      ["A", ["each"]],
      ["B", ["if", "value"]],
      ["C", ["fields"]],
      ["else", ["value"]],
    ]);
    expect([...optionalKeysIn(source)]).toEqual(["B"]);
  });

  test("are computed fast, however many braces there are", () => {
    for (const source of [
      "{{".repeat(100_000),
      "{{{".repeat(100_000),
      "}}".repeat(100_000),
      "{{a}}".repeat(100_000),
      "{{#if a}}".repeat(100_000),
      "{{#each a}}{{/if}}".repeat(100_000),
      `{{#if${" ".repeat(100_000)}`,
    ])
      expect(parseTags(source).length).toBeGreaterThanOrEqual(0);
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

  test("get the type that their use needs, unless they have a fallback", () => {
    const html = "{{#each A}}{{B}}{{/each}}{{C.d}}";
    const variables = [
      { key: "A", type: "string" as const, isRequired: true, fallback: "" },
      { key: "B", type: "number" as const, isRequired: true, fallback: "" },
      { key: "C", type: "string" as const, isRequired: false, fallback: "x" },
    ];
    expect(effectiveVariables(fields({ html, variables })).map(({ key, type }) => [key, type])).toEqual([
      ["A", "list"],
      ["B", "number"],
      ["C", "string"],
    ]);
    expect(effectiveVariables(fields({ html })).map(({ key, type }) => [key, type])).toEqual([
      ["A", "list"],
      ["C", "object"],
    ]);
  });

  test("of lists and objects are JSON", () => {
    expect(parseValue("list", '[{"a":1}]')).toEqual([{ a: 1 }]);
    for (const [type, text] of [
      ["list", "{}"],
      ["list", "[1"],
      ["object", "[]"],
      ["object", "null"],
      ["object", "1"],
    ] as const)
      expect(parseValue(type, text)).toBeNull();
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

test("a name becomes an alias that the server accepts", () => {
  expect(aliasOf("Welcome, dear Ann!")).toBe("welcome-dear-ann");
  expect(aliasOf("  Überweisung 2 ")).toBe("uberweisung-2");
  expect(aliasOf("你好")).toBe("");
});
