import { escapeHtml } from "#server/shared/text/escape-html";
import type { Page } from "./documents";

const groupsOf = (pages: readonly Page[]): [section: string, pages: Page[]][] =>
  [...new Set(pages.map(({ section }) => section))].map((section) => [
    section,
    pages.filter((page) => page.section === section),
  ]);

const linkTo = ({ path, title }: Page): string => `<a href="${path}">${escapeHtml(title)}</a>`;

function renderNavigation(pages: readonly Page[], current: Page | null): string {
  const item = (page: Page) => {
    if (page !== current) return `<li>${linkTo(page)}</li>`;
    const parts = page.sections
      .filter(({ depth, heading }) => depth === 2 && heading !== "")
      .map(({ id, heading }) => `<li><a href="#${id}">${escapeHtml(heading)}</a></li>`);
    const list = parts.length === 0 ? "" : `<ul>${parts.join("")}</ul>`;
    return `<li><a href="${page.path}" aria-current="page">${escapeHtml(page.title)}</a>${list}</li>`;
  };
  return groupsOf(pages)
    .map(([section, own]) => `<p>${section}</p><ul>${own.map(item).join("")}</ul>`)
    .join("\n");
}

const SEARCH = `<form class="search" role="search" hidden>
<input type="search" placeholder="Search" aria-label="Search the documents" autocomplete="off" spellcheck="false">
<div class="results" hidden><p role="status"></p><ol></ol></div>
</form>`;

type Frame = Pick<Page, "path" | "title" | "summary"> & Record<"content" | "version" | "navigation", string>;

/** The address of a page as Markdown. */
export const markdownAddressOf = (path: string): string => `${path}.md`;

const isApiPath = (path: string): boolean => path === "/docs/api" || path.startsWith("/docs/api/");

function renderFrame({ path, title, summary, content, version, navigation }: Frame): string {
  const isApi = isApiPath(path);
  const [own, name, other] = isApi
    ? ["/docs/api", "API reference", '<a href="/docs">Guides</a>']
    : ["/docs", "Guides", '<a href="/docs/api">API reference</a>'];
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex, nofollow">
<meta name="description" content="${escapeHtml(summary)}">
<title>${escapeHtml(title)} · Backstamp</title>
<link rel="icon" href="/icon.svg" type="image/svg+xml">
<link rel="alternate" href="${markdownAddressOf(path)}" type="text/markdown">
<link rel="stylesheet" href="/docs/guides.css">
<script src="/docs/guides.js"></script>
${isApi ? '<script src="/docs/api.js"></script>\n' : ""}</head>
<body${isApi ? ' class="api"' : ""}>
<a class="skip" href="#content">Skip to content</a>
<header>
<a class="brand" href="${own}"><img src="/icon.svg" alt="" width="24" height="24">Backstamp ${isApi ? "API" : "guides"}</a>
${SEARCH}
<nav aria-label="Site">${other}<a href="/console">Console</a></nav>
</header>
<div class="columns">
<details class="menu"><summary>${isApi ? "All pages" : "All guides"}</summary><nav aria-label="${name}">${navigation}</nav></details>
<main id="content">
${content}
<footer>Backstamp ${escapeHtml(version)} · <a href="${markdownAddressOf(path)}">View as Markdown</a></footer>
</main>
</div>
</body>
</html>
`;
}

/**
 * The HTML document of one page, with links to the pages before and after it. `pages` are in the navigation.
 */
export function renderPage(page: Page, pages: readonly Page[], version: string): string {
  const isApi = isApiPath(page.path);
  const position = pages.indexOf(page);
  const [before, after] = [pages[position - 1], pages[position + 1]];
  const steps = [
    before ? `<span>Previous: ${linkTo(before)}</span>` : "",
    after ? `<span>Next: ${linkTo(after)}</span>` : "",
  ].join("");
  return renderFrame({
    path: page.path,
    title: isApi ? `${page.title}, API reference` : page.title,
    summary: page.summary,
    content: `<article>\n${page.html}</article>\n<nav class="steps" aria-label="Next and previous page">${steps}</nav>`,
    version,
    navigation: renderNavigation(pages, page),
  });
}

const summary = "How to set up, use and operate this version of Backstamp.";

/** The start page: every guide with its first sentence. */
export function renderStart(pages: readonly Page[], version: string): string {
  const item = (page: Page) => `<li>${linkTo(page)}<p>${escapeHtml(page.summary)}</p></li>`;
  const groups = groupsOf(pages).map(
    ([section, own]) => `<h2>${section}</h2>\n<ul class="list">${own.map(item).join("\n")}</ul>`,
  );
  const reference =
    'Every route, field and error of the API is in the <a href="/docs/api">API reference</a>, where you can also try calls.';
  return renderFrame({
    path: "/docs",
    title: "Guides",
    summary,
    content: `<article>\n<h1>Guides</h1>\n<p>${summary} ${reference}</p>\n${groups.join("\n")}\n</article>`,
    version,
    navigation: renderNavigation(pages, null),
  });
}

const entriesOf = (pages: readonly Page[]): string[] =>
  groupsOf(pages).flatMap(([section, own]) => [
    `## ${section}`,
    own
      .map(({ title, path, summary: about }) => `- [${title}](${markdownAddressOf(path)}): ${about}`)
      .join("\n"),
  ]);

/** The start page as Markdown. */
export const writeStart = (pages: readonly Page[]): string =>
  ["# Guides", summary, ...entriesOf(pages)].join("\n\n");

/** Every page as Markdown with one line about it, in the form of llmstxt.org. */
export const writeIndex = (pages: readonly Page[]): string =>
  [
    "# Backstamp",
    "> A self-hosted email sending service: a REST API that the clients of Resend can use, SMTP submission, signed webhooks and a console.",
    "These documents are of the version that runs here. The API is described by [openapi.json](/api/openapi.json).",
    ...entriesOf(pages),
  ].join("\n\n");
