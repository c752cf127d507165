import { describe, expect, test } from "vitest";
import { compareLines, findChanges } from "../../app/console/templates/[id]/code/find-changes";
import { markChanges } from "../../app/console/templates/[id]/versions/mark-changes";

const REMOVED = /<mark style="background:#ffd7d5[^"]*">(.*?)<\/mark>/gs;
const ADDED = /<mark style="background:#c9f2d3[^"]*">(.*?)<\/mark>/gs;
const marksOf = (before: string, after: string) => {
  const marked = markChanges(before, after);
  return {
    removed: [...marked.before.matchAll(REMOVED)].map(([, text]) => text),
    added: [...marked.after.matchAll(ADDED)].map(([, text]) => text),
  };
};

describe("the marks of two rendered versions", () => {
  test.each<[what: string, before: string, after: string, removed: string[], added: string[]]>([
    ["a changed text", "<p>a</p><p>b</p>", "<p>a</p><p>c</p>", ["b"], ["c"]],
    ["an added text", "<p>a</p>", "<p>new &amp; <b>x</b></p><p>a</p>", [], ["new &amp; ", "x"]],
    ["a removed text", "<td>a</td><td>b</td>", "<td>a</td>", ["b"], []],
    ["another image", '<p>a<img src="x"></p>', '<p>a<img src="y"></p>', ['<img src="x">'], ['<img src="y">']],
    ["another link with the same text", '<a href="x">a</a>', '<a href="y">a</a>', ["a"], ["a"]],
    ["white space", "<p>a  b</p>", "<p>\n a b\n</p>", [], []],
    ["other markup of the same text", "<p>a</p>", '<h1 style="color:red">a</h1>', [], []],
    [
      "what is not displayed",
      "<style>p{a:b}</style><title>x</title><!-- a --><p>a</p>",
      "<style>p{a:c}</style><title>y</title><!-- b --><p>a</p>",
      [],
      [],
    ],
    [
      "text that looks like a tag",
      "<p>1 &lt;b&gt;</p>",
      "<p>2 &lt;b&gt;</p>",
      ["1 &lt;b&gt;"],
      ["2 &lt;b&gt;"],
    ],
    ["nothing", "", "", [], []],
  ])("of %s", (_, before, after, removed, added) => {
    expect(marksOf(before, after)).toEqual({ removed, added });
    const without = (html: string) => html.replace(/<mark[^>]*>|<\/mark>/g, "");
    const marked = markChanges(before, after);
    expect([without(marked.before), without(marked.after)]).toEqual([before, after]);
    expect(marked.count).toBe(removed.length + added.length);
  });

  test("are the fewest, and bounded for large documents", () => {
    expect(findChanges(["a", "b", "c", "d"], ["x", "b", "d", "c", "d"])).toEqual({
      before: [0],
      after: [0, 2],
    });
    expect(findChanges([], ["a"])).toEqual({ before: [], after: [0] });
    const many = (prefix: string) => [
      "same",
      ...Array.from({ length: 3_000 }, (_, n) => `${prefix}${n}`),
      "end",
    ];
    const changes = findChanges(many("a"), many("b"));
    expect(changes.before).toHaveLength(3_000);
    expect(changes.after).not.toContain(0);
    expect(changes.after).not.toContain(3_001);
  });
});

test("lines are compared one by one, and a removed line stands before the added one", () => {
  const lines = compareLines("a\nb\nc\nd", "a\nB\nc").map(({ kind, line }) => `${kind} ${line}`);
  expect(lines).toEqual(["same a", "removed b", "added B", "same c", "removed d"]);
  expect(compareLines("a", "x\na\ny").map(({ kind }) => kind)).toEqual(["added", "same", "added"]);
});
