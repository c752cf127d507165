import { afterAll, describe, expect, test } from "vitest";
import { createConvertToText, shortHtmlChars } from "#server/mail/mime/html-text";
import { type Log, silentLog } from "#server/platform/log";
import { createThreads } from "#server/platform/threads";

/** A busy machine must not reach the time limit, which is tested on its own. */
const threads = createThreads();
afterAll(() => threads.close());
const convertToText = createConvertToText({ log: silentLog, threads, timeLimitMs: 300_000 });
const textOf = (html: string) => convertToText("team", html);

/** HTML that is converted in a thread. */
const long = (html: string) => html.padEnd(shortHtmlChars + 1);

test.each([
  ["short HTML", (html: string) => html],
  ["long HTML", long],
])("the text of %s contains links and the alternative text of images, and is wrapped", async (_, resize) => {
  const html = `<h1>Über uns</h1><p>${"word ".repeat(40)}</p><p><a href="https://example.com/x?a=1&amp;b=2">Look</a> <img src="x.png" alt="A tree"></p><style>p{color:red}</style><script>x()</script>`;
  const text = await textOf(resize(html));
  expect(text).toContain("Über uns");
  expect(text).toContain("Look [https://example.com/x?a=1&b=2]");
  expect(text).toContain("A tree");
  expect(text).not.toMatch(/x\.png|color:red|x\(\)/);
  for (const line of text.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
});

/** Nested so deeply that the tags are only removed. */
const deep = (html: string) => `${html}${"<div>".repeat(200)}`;

test.each([
  ["short HTML", (html: string) => html],
  ["long HTML", long],
  ["deep HTML", deep],
])("the text of %s has blanks between cells, and neither the title nor what is hidden", async (_, resize) => {
  const html = `<title>Title</title><div style="color:#fff; display: none; max-height:0">Preheader<div>more</div></div>
    <span style="DISPLAY:NONE">secret</span><p hidden>attribute</p><td style="mso-hide:all">outlook</td>
    <table><tr><td>One</td><td>Two</td></tr></table><p style="display:block">Shown</p>`;
  const text = await textOf(resize(html));
  expect(text).toMatch(/One Two/);
  expect(text).toContain("Shown");
  expect(text).not.toMatch(/Title|Preheader|more|secret|attribute|outlook/);
});

test("HTML without visible content has an empty text", async () => {
  expect(await textOf("<img src=x>")).toBe("");
  expect(await textOf("")).toBe("");
});

const units = ["<div>", "<b>", "<table><tr><td>", "<a href=x>", "<", "&", "<!--", "<ul><li>", "<p>", "<li>a"];
test.each(units)("HTML of very many %s has a text, which is the same each time", async (unit) => {
  const html = unit.repeat(9_000);
  expect(await textOf(html)).toBe(await textOf(html));
});

test("nesting above the converter's limit is converted completely, without tags", async () => {
  const html = `<title>No</title><style>p{color:red}</style>${"<ul><li>".repeat(2_000)}Deep &amp; <b>far</b><br>below<script>x()</script>`;
  expect(await textOf(html)).toBe("Deep & far\nbelow");
});

test("missing end tags in a newsletter with lists and tables do not count as deep nesting", async () => {
  const row = '<tr><td><p>One<p>Two<ul><li>Three<li><a href="https://example.com/">Four</a></ul>';
  const text = await textOf(`<table>${row.repeat(200)}</table>`);
  expect(text).toContain("Four [https://example.com/]");
});

describe("a conversion that takes too long", () => {
  const html = "<p>One <b>word</b></p>".repeat(5_000);

  test("is stopped with its thread: the text is the HTML without tags, which is logged", async () => {
    const events: [string, unknown][] = [];
    const note = (event: string, facts?: unknown) => void events.push([event, facts]);
    const log: Log = { info: note, warn: note, error: note };
    const text = await createConvertToText({ log, threads, timeLimitMs: 1 })("team", html);
    expect(text.split("\n")[0]).toBe("One word");
    expect(text.match(/One word/g)).toHaveLength(5_000);
    expect(events).toEqual([["html_text.time_limit", { htmlChars: html.length, timeLimitMs: 1 }]]);
  });

  test("does not affect the next ones", async () => {
    const withShortTimeout = createConvertToText({ log: silentLog, threads, timeLimitMs: 1 });
    const both = await Promise.all([withShortTimeout("a", html), textOf(html)]);
    expect(both[1]).toMatch(/^One word\n\nOne word\n\n/);
  });
});

test("many conversions of one team do not block that of another team", async () => {
  const ended: string[] = [];
  const html = "<p>One <b>word</b></p>".repeat(400);
  const convert = async (teamId: string) => {
    await convertToText(teamId, html);
    ended.push(teamId);
  };
  // Both threads are running then.
  await Promise.all([convert("third"), convert("fourth")]);
  const many = Array.from({ length: 30 }, () => convert("first"));
  await Promise.all([...many, convert("second")]);
  expect(ended.indexOf("second")).toBeLessThan(15);
});
