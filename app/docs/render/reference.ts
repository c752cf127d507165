import { API_SECTIONS } from "#server/shared/guides";
import type { Page } from "./documents";
import { errorExample, exampleOf } from "./examples";
import { typeOf, writeField, writeFields } from "./fields";
import { anchorOf, renderMarkdown } from "./markdown";
import { type ApiDocument, dereference, type ListedError, type Operation } from "./openapi";

/** An operation with its method and path, and the name of its page. */
type Placed = Operation & { method: string; path: string; page: string };

/** The pages of the API reference, in the order of the navigation. Each is written as Markdown. */
export function renderReferencePages(described: object, errors: readonly ListedError[]): Page[] {
  const document = dereference(described);
  const operations = listOperations(document);
  const write = (name: string): string => {
    switch (name) {
      case "":
        return writeOverview(document, operations);
      case "errors":
        return writeErrors(document, errors);
      case "webhook-events":
        return writeEvents(document);
      default:
        return writeNoun(
          document,
          operations.filter(({ page }) => page === name),
        );
    }
  };
  return API_SECTIONS.flatMap(({ title: section, pages }) =>
    pages.map((name) => {
      const markdown = write(name);
      const path = name === "" ? "/docs/api" : `/docs/api/${name}`;
      return { ...renderMarkdown(markdown, (target) => target, true), markdown, path, section };
    }),
  );
}

/** Every operation, in the order of the routes. Its page is named by the first segment of the path. */
const listOperations = ({ paths }: ApiDocument): Placed[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...operation,
      method: method.toUpperCase(),
      path,
      page: (path.split("/")[2] ?? "").replace(/\.json$/, ""),
    })),
  );

const join = (...parts: (string | readonly string[])[]): string =>
  parts
    .flat()
    .filter((part) => part !== "")
    .join("\n\n");

const fence = (text: string, language: string): string => `\`\`\`${language}\n${text}\n\`\`\``;
const json = (value: unknown): string => fence(JSON.stringify(value, null, 2), "json");
const list = (items: readonly string[]): string => items.join("\n");

function writeOverview(document: ApiDocument, operations: readonly Placed[]): string {
  const headers = Object.entries(document.components.headers).map(([name, { description, schema }]) =>
    writeField({ name, schema, description, isRequired: false }, false),
  );
  const nouns = document.tags.map(({ name, description }) => {
    const own = operations.filter(({ tags }) => tags.includes(name));
    // Equal headings are numbered.
    const anchors = own.map(({ summary }) => anchorOf(summary));
    const items = own.map(({ page, method, path, summary }, at) => {
      const earlier = anchors.slice(0, at).filter((each) => each === anchors[at]).length;
      const anchor = earlier === 0 ? anchors[at] : `${anchors[at]}-${earlier}`;
      return `- [\`${method} ${path}\`](/docs/api/${page}#${anchor}): ${summary}`;
    });
    return join(`## [${name}](/docs/api/${own[0]?.page})`, description, list(items));
  });
  return join(
    "# API reference",
    "Every operation, field, error and event of the API.",
    "The base URL of this installation is `http://localhost:3000/api`. For programs: [openapi.json](/api/openapi.json). For language models: [llms.txt](/llms.txt), and each page as Markdown at its address with `.md`. Email can also be submitted over [SMTP](/docs/smtp).",
    document.info.description,
    "## Response headers",
    list(headers),
    nouns,
  );
}

function writeErrors(document: ApiDocument, errors: readonly ListedError[]): string {
  return join(
    "# Errors",
    "Every error that the API responds with: when it occurs, and what to do. Several errors can share a name; the message says what is wrong.",
    errors.map((error) =>
      join(
        `## ${error.status} ${error.name}`,
        error.reason,
        `**What to do:** ${error.action}`,
        json(errorExample(document, error)),
      ),
    ),
  );
}

function writeEvents(document: ApiDocument): string {
  const events = Object.entries(document.webhooks).map(([type, { post }]) => {
    const [content] = Object.values(post.requestBody.content);
    return join(
      `## ${type}`,
      post.summary,
      list(writeFields(content?.schema ?? {}, false)),
      json(content?.example),
    );
  });
  return join(
    "# Webhook events",
    "Every event that an endpoint can receive, with its payload. [Verify the signature](/docs/webhooks#verify-the-signature) of each request.",
    events,
  );
}

/** The operations of one noun. */
function writeNoun(document: ApiDocument, operations: readonly Placed[]): string {
  const [tag = ""] = operations[0]?.tags ?? [];
  const about = document.tags.find(({ name }) => name === tag)?.description ?? "";
  return join(`# ${tag}`, about, operations.map(writeOperation));
}

function writeOperation(operation: Placed): string {
  const { method, path, summary, description, requestBody, responses } = operation;
  const parameters = operation.parameters.map(({ in: place, required, ...parameter }) =>
    writeField({ ...parameter, place, isRequired: required }, true),
  );
  const [type = "", body] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  const outcomes = Object.entries(responses).map(([status, outcome]) => ({
    status: Number(status),
    ...outcome,
  }));
  const successes = outcomes
    .filter(({ status }) => status < 400)
    .map(({ status, content = {} }) => {
      const [responseType = "", { schema } = { schema: {} }] = Object.entries(content)[0] ?? [];
      return { status, responseType, schema };
    });
  return join(
    `## ${summary}`,
    `\`${method} ${path}\``,
    description,
    parameters.length === 0 ? "" : join("**Parameters**", list(parameters)),
    body ? join(`**Body** (\`${type}\`): ${typeOf(body.schema)}`, list(writeFields(body.schema, true))) : "",
    successes.map(({ status, responseType, schema }) =>
      join(`**Response ${status}** (\`${responseType}\`)`, list(writeFields(schema, false))),
    ),
    "**Errors**",
    list(
      outcomes
        .filter(({ status }) => status >= 400)
        .flatMap(({ status, description: reasons }) =>
          reasons.split("\n").map((reason) => `- ${status} ${reason.replace(/^- /, "")}`),
        ),
    ),
    operation["x-codeSamples"].map(({ lang, source }) => fence(source, lang)),
    successes.map(({ responseType, schema }) =>
      responseType === "application/json" ? json(exampleOf(schema)) : "",
    ),
  );
}
