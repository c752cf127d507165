import { API_SECTIONS } from "#server/shared/guides";
import { escapeHtml, renderCode } from "../code";
import type { Page } from "../documents";
import { plainOf, renderInline, renderMarkdown, type Section } from "../markdown";
import { type ApiSource, listOperations, type PlacedOperation, parametersIn } from "./document";
import { errorExample, jsonOf, valuesOf } from "./examples";
import { type Field, shapeOf } from "./fields";
import { renderFields, renderMethod, renderOperation } from "./operation-html";
import { fence, writeInside, writeOperation } from "./operation-markdown";

/** Markdown documents that are part of the reference: with its own address for links that they contain. */
export type ApiTexts = {
  smtp: Page;
  /** How a program receives events and verifies their signatures. */
  receiving: Pick<Page, "html" | "markdown">;
};

type Made = Omit<Page, "path" | "section">;

/** All pages of the API reference, in the order of the navigation. */
export function readApiPages(source: ApiSource, texts: ApiTexts): Page[] {
  const operations = listOperations(source.document);
  return API_SECTIONS.flatMap(({ title: section, pages }) =>
    pages.map((name) => ({
      ...pageOf(source, texts, operations, name),
      path: name === "" ? "/docs/api" : `/docs/api/${name}`,
      section,
    })),
  );
}

function pageOf(source: ApiSource, texts: ApiTexts, operations: PlacedOperation[], name: string): Made {
  switch (name) {
    case "":
      return overviewOf(source, operations);
    case "errors":
      return errorsPageOf(source, operations);
    case "webhook-events":
      return eventsPageOf(source, texts);
    case "smtp":
      return texts.smtp;
    default:
      return nounOf(
        source,
        operations.filter(({ page }) => page === name),
      );
  }
}

/** The operations of one noun. */
function nounOf(source: ApiSource, operations: PlacedOperation[]): Made {
  const [tag = ""] = operations[0]?.tags ?? [];
  const summary = source.document.tags.find(({ name }) => name === tag)?.description ?? "";
  const given = valuesOf(operations);
  const html = operations.map((operation) => renderOperation(source, operation, given));
  const markdown = operations.map((operation) => writeOperation(source, operation, given));
  return {
    title: tag,
    summary,
    html: `<h1>${escapeHtml(tag)}</h1>\n<p>${renderInline(summary)}</p>\n${html.join("\n")}`,
    markdown: [`# ${tag}`, summary, ...markdown].join("\n\n"),
    sections: operations.flatMap((operation) => sectionsOf(source, operation)),
  };
}

/** What the search finds of an operation: itself, and each field and parameter of its request. */
function sectionsOf({ document }: ApiSource, operation: PlacedOperation): Section[] {
  const { operationId: id, summary, method, path, description, requestBody } = operation;
  const fields = (["path", "query", "header"] as const).flatMap((place) =>
    parametersIn(document, operation, place).map(({ name, description: about = "" }) => ({
      id: `${id}.${place}.${name}`,
      name,
      about,
    })),
  );
  const [content] = Object.values(requestBody?.content ?? {});
  const walk = (inside: readonly Field[], at: string): typeof fields =>
    inside.flatMap(({ name, description: about, fields: deeper }) => [
      { id: `${at}.${name}`, name, about },
      ...walk(deeper, `${at}.${name}`),
    ]);
  const inBody = walk(shapeOf(document, content?.schema ?? {}).fields, `${id}.body`);
  const heading = plainOf(summary);
  return [
    { id, heading, depth: 2, text: `${method} ${path} ${plainOf(description.replaceAll("\n", " "))}` },
    ...[...fields, ...inBody].map((field) => ({
      id: field.id,
      heading: `${heading}: ${field.name}`,
      depth: 4,
      text: plainOf(field.about),
    })),
  ];
}

function overviewOf({ document }: ApiSource, operations: PlacedOperation[]): Made {
  const about = renderMarkdown(document.info.description, () => null);
  const groups = document.tags.map((tag) => ({
    ...tag,
    operations: operations.filter(({ tags }) => tags.includes(tag.name)),
  }));
  const item = ({ operationId, page, method, path, summary }: PlacedOperation) =>
    `<li><a href="/docs/api/${page}#${operationId}">${renderMethod(method)} <code>${escapeHtml(path).replaceAll("/", "/<wbr>")}</code> <span>${renderInline(summary)}</span></a></li>`;
  const lists = groups.map(
    ({ name, description, operations: own }) =>
      `<h2 id="${own[0]?.page}"><a href="/docs/api/${own[0]?.page}">${escapeHtml(name)}</a></h2>\n<p>${renderInline(description)}</p>\n<ul class="operations">\n${own.map(item).join("\n")}\n</ul>`,
  );
  const headers = Object.entries(document.components.headers).map(([name, { description, schema }]) => ({
    ...shapeOf(document, schema),
    name,
    description,
    isRequired: false,
  }));
  const base = `<p>The base URL of this installation is <code><span data-value="url">http://localhost:3000</span>/api</code>. The same document for programs: <a href="/api/openapi.json">openapi.json</a>. For language models: <a href="/llms.txt">llms.txt</a>, and each page as Markdown at its address with <code>.md</code>.</p>`;
  const texts = groups.map(
    ({ name, description, operations: own }) =>
      `## [${name}](/docs/api/${own[0]?.page})\n\n${description}\n\n${own.map(({ method, path, summary }) => `- \`${method} ${path}\`: ${summary}`).join("\n")}`,
  );
  return {
    title: "Overview",
    summary: "Every operation, field, error and event of the API.",
    html: `<div class="prose"><h1>API reference</h1>\n${base}\n${about.html}<h2 id="response-headers">Response headers</h2>\n${renderFields(headers, null)}</div>\n${lists.join("\n")}`,
    markdown: [
      "# API reference",
      document.info.description,
      "## Response headers",
      headers.map(({ name, description }) => `- \`${name}\`: ${description}`).join("\n"),
      ...texts,
    ].join("\n\n"),
    sections: [{ id: "", heading: "", depth: 1, text: about.sections.map(({ text }) => text).join(" ") }],
  };
}

function errorsPageOf({ document, errors }: ApiSource, operations: PlacedOperation[]): Made {
  const summary = "Every error that the API responds with: when it occurs, and what to do.";
  const linkOf = (name: string) => {
    const operation = operations.find(({ method, path }) => `${method} ${path}` === name);
    return `<li><a href="/docs/api/${operation?.page}#${operation?.operationId}"><code>${escapeHtml(name)}</code></a></li>`;
  };
  const html = errors.map((error) => {
    const { code, name, status, reason, action, operations: own } = error;
    const users =
      own.length === operations.length
        ? "<p>Every operation can respond with it.</p>"
        : own.length === 0
          ? ""
          : `<details><summary>${own.length} operations</summary><ul>${own.map(linkOf).join("\n")}</ul></details>`;
    return `<div class="operation" data-id="${code}">
<div class="about"><h2 id="${code}"><span class="status">${status}</span> ${name} <a class="anchor" href="#${code}" aria-label="Link to this error">#</a></h2>
<p>${renderInline(reason)}</p>\n<p><strong>What to do:</strong> ${renderInline(action)}</p>\n${users}</div>
<div class="beside">${renderCode(jsonOf(errorExample(document, error)), "json")}</div>
</div>`;
  });
  const texts = errors.map(
    (error) =>
      `## ${error.status} ${error.name}\n\n${error.reason}\n\nWhat to do: ${error.action}\n\n${fence(jsonOf(errorExample(document, error)), "json")}`,
  );
  return {
    title: "Errors",
    summary,
    html: `<h1>Errors</h1>\n<p>${summary} Several errors can share a name; the message says what is wrong.</p>\n${html.join("\n")}`,
    markdown: ["# Errors", summary, ...texts].join("\n\n"),
    sections: errors.map(({ code, name, status, reason, action }) => ({
      id: code,
      heading: `${status} ${name}`,
      depth: 2,
      text: plainOf(`${reason} ${action}`),
    })),
  };
}

function eventsPageOf({ document }: ApiSource, { receiving }: ApiTexts): Made {
  const summary =
    "Every event that an endpoint can receive, with its payload, and how to verify a signature.";
  const events = Object.entries(document.webhooks).map(([type, { post }]) => {
    const [content] = Object.values(post.requestBody.content);
    return {
      type,
      about: post.summary,
      shape: shapeOf(document, content?.schema ?? {}),
      example: content?.example,
    };
  });
  const html = events.map(
    ({ type, about, shape, example }) => `<div class="operation" data-id="${type}">
<div class="about"><h2 id="${type}"><code>${type}</code> <a class="anchor" href="#${type}" aria-label="Link to this event">#</a></h2>
<p>${renderInline(about)}</p>\n${renderFields(shape.fields, null)}</div>
<div class="beside">${renderCode(jsonOf(example), "json")}</div>
</div>`,
  );
  const texts = events.map(
    ({ type, about, shape, example }) =>
      `## ${type}\n\n${about}\n\n${writeInside(shape, "")}\n\n${fence(jsonOf(example), "json")}`,
  );
  return {
    title: "Webhook events",
    summary,
    html: `<div class="prose"><h1>Webhook events</h1>\n<p>${summary}</p>\n${receiving.html}</div>\n${html.join("\n")}`,
    markdown: ["# Webhook events", summary, receiving.markdown, ...texts].join("\n\n"),
    sections: events.map(({ type, about }) => ({ id: type, heading: type, depth: 2, text: about })),
  };
}
