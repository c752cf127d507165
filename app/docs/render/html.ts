import type { Page } from "./documents";
import { escapeHtml } from "./markdown";

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
<input type="search" placeholder="Search" aria-label="Search the guides" autocomplete="off" spellcheck="false">
<div class="results" hidden><p role="status"></p><ol></ol></div>
</form>`;

type Frame = { title: string; summary: string; content: string; version: string; navigation: string };

const renderFrame = ({ title, summary, content, version, navigation }: Frame): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex, nofollow">
<meta name="description" content="${escapeHtml(summary)}">
<title>${escapeHtml(title)} · Backstamp</title>
<link rel="icon" href="/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/docs/guides.css">
<script src="/docs/guides.js"></script>
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
<header>
<a class="brand" href="/docs"><img src="/icon.svg" alt="" width="24" height="24">Backstamp guides</a>
${SEARCH}
<nav aria-label="Site"><a href="/docs/api">API reference</a><a href="/console">Console</a></nav>
</header>
<div class="columns">
<details class="menu"><summary>All guides</summary><nav aria-label="Guides">${navigation}</nav></details>
<main id="content">
${content}
<footer>Backstamp ${escapeHtml(version)}</footer>
</main>
</div>
</body>
</html>
`;

/** The HTML document of one page, with links to the pages before and after it. */
export function renderPage(page: Page, pages: readonly Page[], version: string): string {
  const position = pages.indexOf(page);
  const [before, after] = [pages[position - 1], pages[position + 1]];
  const steps = [
    before ? `<span>Previous: ${linkTo(before)}</span>` : "",
    after ? `<span>Next: ${linkTo(after)}</span>` : "",
  ].join("");
  return renderFrame({
    title: page.title,
    summary: page.summary,
    content: `<article>\n${page.html}</article>\n<nav class="steps" aria-label="Next and previous guide">${steps}</nav>`,
    version,
    navigation: renderNavigation(pages, page),
  });
}

/** The start page: every guide with its first sentence. */
export function renderStart(pages: readonly Page[], version: string): string {
  const item = (page: Page) => `<li>${linkTo(page)}<p>${escapeHtml(page.summary)}</p></li>`;
  const groups = groupsOf(pages).map(
    ([section, own]) => `<h2>${section}</h2>\n<ul class="list">${own.map(item).join("\n")}</ul>`,
  );
  const summary = "How to set up, use and operate this version of Backstamp.";
  const reference =
    'Every route, field and error of the API is in the <a href="/docs/api">API reference</a>, where you can also try calls.';
  return renderFrame({
    title: "Guides",
    summary,
    content: `<article>\n<h1>Guides</h1>\n<p>${summary} ${reference}</p>\n${groups.join("\n")}\n</article>`,
    version,
    navigation: renderNavigation(pages, null),
  });
}
