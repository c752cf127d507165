import { escapeHtml, renderCode, renderSamples } from "../code";
import { renderInline } from "../markdown";
import { renderCall } from "./call-html";
import {
  type ApiSource,
  errorsOf,
  type Parameter,
  type PlacedOperation,
  parametersIn,
  successesOf,
} from "./document";
import { errorExample, exampleOf, jsonOf } from "./examples";
import { type Field, type Shape, shapeOf } from "./fields";

/** The base URL and the key in samples. The script replaces them by those of the reader. */
export const SAMPLE_VALUES = { baseUrl: "http://localhost:3000", key: "re_your_key" };

export const renderMethod = (method: string): string =>
  `<span class="method ${method.toLowerCase()}">${method}</span>`;

/**
 * An operation: description, parameters and fields beside samples, the form for a call, and example
 * responses.
 */
export function renderOperation(
  source: ApiSource,
  operation: PlacedOperation,
  given: Record<string, unknown>,
): string {
  const { operationId: id, method, path, summary, description } = operation;
  return `<div class="operation" data-id="${id}">
<div class="about">
<h2 id="${id}">${renderInline(summary)} <a class="anchor" href="#${id}" aria-label="Link to this operation">#</a></h2>
<p class="address">${renderMethod(method)} <code>${escapeHtml(path).replaceAll("/", "/<wbr>")}</code></p>
${description
  .split("\n\n")
  .map((part) => `<p>${renderInline(part)}</p>`)
  .join("\n")}
${renderParameters(source, operation)}
${renderBody(source, operation)}
${renderResponses(source, operation)}
${renderErrors(source, operation)}
</div>
<div class="beside">
${samplesOf(operation)}
${renderCall(source, operation)}
${renderExamples(source, operation, given)}
</div>
</div>`;
}

const part = (title: string, content: string): string =>
  content === "" ? "" : `<h3>${title}</h3>\n${content}`;

const PLACES = [
  ["path", "Path parameters"],
  ["query", "Query parameters"],
  ["header", "Headers"],
] as const;

function renderParameters({ document }: ApiSource, operation: PlacedOperation): string {
  const fieldOf = ({ name, description = "", required, schema }: Parameter): Field => {
    const shape = shapeOf(document, schema);
    return { ...shape, name, isRequired: required, description: description || shape.description };
  };
  return PLACES.map(([place, title]) =>
    part(
      title,
      renderFields(
        parametersIn(document, operation, place).map(fieldOf),
        `${operation.operationId}.${place}`,
      ),
    ),
  ).join("");
}

function renderBody({ document }: ApiSource, { operationId, requestBody }: PlacedOperation): string {
  if (!requestBody) return "";
  const types = Object.keys(requestBody.content);
  const [content] = Object.values(requestBody.content);
  const shape = shapeOf(document, content?.schema ?? {});
  const note = `${types.map((type) => `<code>${escapeHtml(type)}</code>`).join(" or ")}${requestBody.required ? "" : ", optional"}`;
  return part("Body", `${noteOf(note, shape)}${renderInside(shape, `${operationId}.body`)}`);
}

const noteOf = (note: string, { type, fields, variants, limits }: Shape): string => {
  const parts = [note, ...(type === "object" ? [] : [renderInline(type)]), ...limits.map(renderInline)];
  return fields.length > 0 || variants.length > 0 || type !== "object"
    ? `<p class="note">${parts.join(" · ")}</p>\n`
    : `<p class="note">${note}</p>\n`;
};

function renderResponses({ document }: ApiSource, operation: PlacedOperation): string {
  return successesOf(document, operation)
    .map(([status, { content = {} }]) => {
      const [type = "", body] = Object.entries(content)[0] ?? [];
      const shape = shapeOf(document, body?.schema ?? {});
      return part(
        `Response <span class="status">${status}</span>`,
        `${noteOf(`<code>${escapeHtml(type)}</code>`, shape)}${renderInside(shape, null)}`,
      );
    })
    .join("");
}

function renderErrors({ errors }: ApiSource, operation: PlacedOperation): string {
  const item = ({ status, code, name, reason }: ApiSource["errors"][number]) =>
    `<li><a href="/docs/api/errors#${code}"><span class="status">${status}</span> <code>${name}</code></a> ${renderInline(reason)}</li>`;
  return `<details class="errors"><summary>Errors</summary>\n<ul>\n${errorsOf(errors, operation).map(item).join("\n")}\n</ul></details>`;
}

/** Fields with everything inside them. `path` begins their anchors; null for fields without anchors. */
export function renderFields(fields: readonly Field[], path: string | null): string {
  if (fields.length === 0) return "";
  const item = (field: Field) => {
    const { name, type, isRequired, description, limits, values } = field;
    const id = path === null ? null : `${path}.${name}`;
    const facts = [
      `<code class="name">${escapeHtml(name)}</code>`,
      `<span class="type">${escapeHtml(type)}</span>`,
      ...(isRequired && path !== null ? ['<span class="required">required</span>'] : []),
    ];
    const texts = [
      ...(description === "" ? [] : [`<p>${renderInline(description)}</p>`]),
      ...(limits.length === 0 ? [] : [`<p class="limits">${limits.map(renderInline).join(" ")}</p>`]),
      ...(values.length === 0
        ? []
        : [`<p class="limits">${values.length === 1 ? "Always" : "One of"} ${renderValues(values)}</p>`]),
    ];
    return `<li${id === null ? "" : ` id="${escapeHtml(id)}"`}><p>${facts.join(" ")}</p>${texts.join("")}${renderInside(field, id)}</li>`;
  };
  return `<ul class="fields">\n${fields.map(item).join("\n")}\n</ul>`;
}

const renderValues = (values: readonly string[]): string =>
  values.map((value) => `<code>${escapeHtml(value)}</code>`).join(", ");

/**
 * What is inside a value. Alternatives have no anchors, because several of them can have a field of one name.
 */
const renderInside = ({ fields, variants }: Shape, path: string | null): string =>
  renderFields(fields, path) +
  variants
    .map(
      (variant, index) =>
        `<div class="variant"><p class="note">${index === 0 ? "Either" : "Or"}${variant.description ? `: ${renderInline(variant.description)}` : ""}</p>\n${renderInside(variant, null)}</div>`,
    )
    .join("\n");

/** The base URL and the key are elements of their own, so that the script can replace them. */
const markValues = (html: string): string =>
  html
    .replaceAll(SAMPLE_VALUES.baseUrl, `<span data-value="url">${SAMPLE_VALUES.baseUrl}</span>`)
    .replaceAll(SAMPLE_VALUES.key, `<span data-value="key">${SAMPLE_VALUES.key}</span>`);

const samplesOf = (operation: PlacedOperation): string =>
  markValues(
    renderSamples(
      operation["x-codeSamples"].map(({ label, lang, source }) => ({ label, language: lang, text: source })),
    ),
  );

/** The example of each response: of success, and of each error. */
function renderExamples(
  { document, errors }: ApiSource,
  operation: PlacedOperation,
  given: Record<string, unknown>,
): string {
  const successes = successesOf(document, operation).map(([status, { content = {} }]) => {
    const [type = "", body] = Object.entries(content)[0] ?? [];
    const example =
      type === "application/json"
        ? renderCode(jsonOf(exampleOf(document, body?.schema ?? {}, given)), "json")
        : `<p class="note">A body of the type <code>${escapeHtml(type)}</code>.</p>`;
    return `<p class="label">Response <span class="status">${status}</span></p>${example}`;
  });
  const failures = errorsOf(errors, operation).map(
    (error) =>
      `<details><summary><span class="status">${error.status}</span> ${error.name}</summary>${renderCode(jsonOf(errorExample(document, error)), "json")}</details>`,
  );
  return `<div class="responses">${successes.join("\n")}\n<details><summary>Error responses</summary>\n${failures.join("\n")}\n</details></div>`;
}
