import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { AppError } from "#server/platform/errors";
import { errorCodesOf } from "#server/rest/openapi/faults";
import { routes } from "#server/rest/routes";
import { ALARMS } from "#server/services/readiness";
import { GUIDE_SECTIONS, isGuidePath } from "#server/shared/guides";
import { LIMIT_PER_MINUTE } from "#server/shared/rate-limits";
import { PERMISSIONS } from "#server/shared/roles";
import { createProgram } from "#server/startup/admin/run";
import { readPages } from "../../app/docs/render/documents";
import { renderPage, renderStart } from "../../app/docs/render/html";
import { renderMarkdown } from "../../app/docs/render/markdown";
import { projectRoot } from "../support/processes/processes";
import { type Block, blocksIn, blocksOf, GROUPS, GUIDES, readGuide } from "./blocks";
import { NOT_RUN } from "./not-run";

const pages = readPages();

const textOf = (html: string) =>
  html
    .replace(/<[^>]*>/g, "")
    .replaceAll("&quot;", '"')
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&amp;", "&");

test("every guide is in the navigation once", () => {
  const listed = GUIDE_SECTIONS.flatMap(({ guides }) => [...guides]);
  expect([...listed].sort()).toEqual(GUIDES);
});

test("the addresses of guides end with an optional slash, and no other address is one", () => {
  for (const address of [
    "/docs",
    "/docs/",
    "/docs/install",
    "/docs/install/",
    "/docs/operating",
    "/docs/api",
    "/docs.md",
    "/llms.txt",
  ])
    expect([address, isGuidePath(address)]).toEqual([address, true]);
  for (const address of ["/docs/api/x", "/docs/installation", "/docs/install/x", "/doc", "/", "/docs/%2e%2e"])
    expect([address, isGuidePath(address)]).toEqual([address, false]);
});

describe("rendering", () => {
  const render = (text: string) => renderMarkdown(text, (target) => (target === "a.md" ? "/docs/a" : null));

  test("HTML is escaped, scripts in addresses are not linked, and pictures are their descriptions", () => {
    const { html } = render(
      "# T\n\n<script>alert(1)</script>\n\nA <b onclick=x>b</b> [c](javascript:alert) ![d](https://e.com/x.png) `<i>`",
    );
    expect(html).not.toMatch(/<(script|b|i|img)\b|javascript:/);
    expect(html).toContain("&lt;script&gt;");
  });

  test("a title, a summary and sections with anchors are found, and links are resolved", () => {
    const rendered = render("# The `title`\n\nOne [link](a.md).\n\n## A & `b` c\n\nText [x](z.ts).");
    expect(rendered).toMatchObject({ title: "The title", summary: "One link." });
    expect(rendered.sections).toEqual([
      { id: "", heading: "", depth: 1, text: "One link." },
      { id: "a--b-c", heading: "A & b c", depth: 2, text: "Text x." },
    ]);
    expect(rendered.html).toContain('<a href="/docs/a">link</a>');
    expect(rendered.html).toContain('<h2 id="a--b-c">');
    expect(rendered.html).toContain("Text x.");
  });

  test("equal headings have different anchors, as on GitHub", () => {
    const { html, sections } = render("# T\n\n## Added\n\na\n\n## Fixed\n\n## Added\n\n## Added\n");
    const ids = ["added", "fixed", "added-1", "added-2"];
    expect(sections.map(({ id }) => id)).toEqual(["", ...ids]);
    expect([...html.matchAll(/<h2 id="([^"]*)"/g)].map(([, id]) => id)).toEqual(ids);
  });

  test("code in every language is shown as it is written", () => {
    const { html } = render('# T\n\n```json POST /api/x\n{ "a": "<&>" }\n```\n');
    expect(html).not.toContain("<&>");
    expect(textOf(html)).toContain('{ "a": "<&>" }');
    expect(html).toMatch(/data-language="json"><code>.*<span class="hljs-/);
  });

  test("neighbouring samples in different languages are one group, and only those", () => {
    const { html } = render(
      "# T\n\n```sh\ncurl a\n```\n\n```js\nb\n```\n\n```js Node without a library\nc\n```\n\nText\n\n```sh\ncurl d\n```\n\n```sh\ncurl e\n```\n\n```json\n{}\n```\n",
    );
    expect(html.match(/class="samples"/g)).toHaveLength(1);
    const labels = [...html.matchAll(/data-label="([^"]*)"/g)].map(([, label]) => label);
    expect(labels).toEqual(["curl", "Node", "Node without a library"]);
    expect(textOf(html).match(/curl [ade]/g)).toEqual(["curl a", "curl d", "curl e"]);
  });

  test("the pages have their version, the navigation, and no script or style inside", () => {
    for (const html of [
      renderStart(pages, "1.2.3"),
      ...pages.map((page) => renderPage(page, pages, "1.2.3")),
    ]) {
      expect(html).toContain("Backstamp 1.2.3");
      expect(html).not.toMatch(/<script>|<style|style=|\son\w+=/);
      for (const { path: address } of pages) expect(html).toContain(`href="${address}"`);
    }
  });
});

test("no page is summarized by a picture, and each has a summary", () => {
  for (const page of pages)
    expect([page.path, page.summary]).toEqual([page.path, expect.stringMatching(/^\S.{20}/)]);
  const start = textOf(renderStart(pages, "1.2.3"));
  expect(start).not.toMatch(/!\w|!\[|Deploy with Vercel/);
});

/** The text of the console: each label is a string or a text of an element there. */
const console = readdirSync(path.join(projectRoot, "app"), { recursive: true, encoding: "utf8" })
  .filter((name) => /^(console|login)\b.*\.tsx?$/.test(name))
  .map((name) => readFileSync(path.join(projectRoot, "app", name), "utf8"))
  .join("\n")
  .replace(/\s+/g, " ");
const isLabel = (words: string) =>
  [`"${words}"`, `>${words}<`, `> ${words} <`, `"${words}…"`].some((form) => console.includes(form));

test("each label that a guide names, in bold, is one of the console", () => {
  const inGuides = GUIDES.map((guide) => [guide, readGuide(guide), /\*\*([^*\n]+)\*\*/g] as const);
  const named = inGuides.flatMap(([file, text, pattern]) =>
    [...text.replace(/^```[\s\S]*?^```$/gm, "").matchAll(pattern)].map(
      ([, label = ""]) => [file, label] as const,
    ),
  );
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter(([, label]) => !isLabel(label))).toEqual([]);
});

test("the guide to roles has the permissions of each role", () => {
  const rows = [...readGuide("roles").matchAll(/^\| (\w+) \| (.*`.*) \|$/gm)];
  const listed = rows.flatMap(([, role = "", cell = ""]) =>
    (cell.match(/\w+:\w+/g) ?? []).map((permission) => [permission, role]),
  );
  expect(Object.fromEntries(listed)).toEqual(PERMISSIONS);
});

test("each link in the Markdown of a guide is also a link of its page", () => {
  const linksOf = (guide: string) => {
    const text = readGuide(guide).replace(/^```[\s\S]*?^```$/gm, "");
    const page = pages.find(({ path: address }) => address === `/docs/${guide}`);
    return [text.match(/\]\([^)]+\)/g)?.length, page?.html.match(/<a href="/g)?.length];
  };
  expect(GUIDES.filter((guide) => linksOf(guide)[0] !== linksOf(guide)[1])).toEqual([]);
});

test("the guide to operating says what to do for each alarm of readiness", () => {
  const rows = readGuide("operating").match(/^\| `\w+` \|/gm) ?? [];
  expect(rows.map((row) => row.slice(3, -3)).sort()).toEqual([...ALARMS].sort());
});

test("the guide to limits has the default limits of a key", () => {
  const rows = [
    ...readGuide("limits-and-errors").matchAll(/^\| (?:`(.+?)`|all others together) \| (\d+) \|$/gm),
  ];
  const limits = rows.map(([, tier = "other", limit]) => [tier, Number(limit)]);
  expect(Object.fromEntries(limits)).toEqual(LIMIT_PER_MINUTE);
});

test("the guide to errors has each status that the API description has", () => {
  const statuses = routes
    .flatMap((route) => errorCodesOf(route))
    .map((code) => new AppError(code, "").status);
  const rows = [...readGuide("limits-and-errors").matchAll(/^\| (\d{3}) \| .* \| .* \|$/gm)];
  const listed = rows.map(([, status]) => Number(status));
  expect([...new Set(statuses)].filter((status) => !listed.includes(status))).toEqual([]);
});

test("each block of code is in exactly one group, and each that is not run exists", () => {
  const blocks = GUIDES.flatMap(blocksOf);
  const groupsOf = (block: Block) => Object.values(GROUPS).filter((isMember) => isMember(block)).length;
  expect(blocks.filter((block) => groupsOf(block) !== 1)).toEqual([]);
  const names = blocks.map(({ name }) => name);
  expect(Object.keys(NOT_RUN).filter((name) => !names.includes(name))).toEqual([]);
  expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
});

const silent = {
  env: {},
  readInput: async () => "",
  write: () => {},
  writeError: () => {},
  onStopSignals: () => () => {},
};

/** Parses a command line. Its command does nothing. */
async function parseCommand(words: readonly string[]): Promise<void> {
  const program = await createProgram(silent, words[0]);
  program.configureOutput({ writeErr: () => {} });
  for (const group of program.commands)
    for (const command of [group, ...group.commands]) command.action(() => {});
  await program.parseAsync(words, { from: "user" });
}

/** The words of a line, without comments, redirections and pipes. Ids are replaced by one. */
const wordsOf = (line: string): string[] =>
  [...line.replace(/\s+[#<>|].*$/, "").matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)]
    .map(([, double, single, bare]) => double ?? single ?? bare ?? "")
    .map((word) => (/^([A-Z]+_)?ID$/.test(word) ? "0198c5a2-6f0e-7cc3-a5b1-94e1f3b7c1d2" : word));

/** The commands in the blocks of the README. */
const documented = [
  ...readFileSync(path.join(projectRoot, "README.md"), "utf8").matchAll(/^```sh\n([\s\S]*?)^```$/gm),
].flatMap(([, text = ""]) =>
  [...text.matchAll(/^(?:npm run -s )?(backstamp )(?:-- )?(.*[^\\\n])$/gm)].map(
    ([, name = "", rest = ""]) => name + rest,
  ),
);

test("each command of a guide and of the README exists with its options", async () => {
  const guides = blocksIn("parsed as commands").flatMap(({ text }) => text.trim().split("\n"));
  const lines = [...guides, ...documented];
  expect(lines.length).toBeGreaterThan(10);
  for (const line of lines.filter((each) => each !== ""))
    await parseCommand(wordsOf(line.replace(/^\w+=\S+ /, "")).slice(1));
});
