import { escapeHtml } from "../code";
import {
  type ApiSource,
  bearerOf,
  type Parameter,
  type PlacedOperation,
  parametersIn,
  scopeOf,
} from "./document";
import { jsonOf } from "./examples";

/** The form that sends a request from the page. The script shows it; without the script it is hidden. */
export function renderCall({ document }: ApiSource, operation: PlacedOperation): string {
  const { operationId: id, method, path, requestBody } = operation;
  const bearer = bearerOf(operation);
  const [type, content] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  const example = content?.example;
  const text = typeof example === "string" ? example : example === undefined ? "" : jsonOf(example);
  const inputs = (["path", "query", "header"] as const).flatMap((place) =>
    parametersIn(document, operation, place).map((parameter) => renderInput(id, place, parameter)),
  );
  return `<details class="call"><summary>Try it</summary>
<form data-method="${method}" data-path="${escapeHtml(path)}"${type === undefined ? "" : ` data-type="${escapeHtml(type)}"`} autocomplete="off">
${bearer === null ? "" : renderKey(id, bearer, scopeOf(operation))}
${inputs.join("\n")}
${type === undefined ? "" : `<label for="${id}-call-body">Body</label>\n<textarea id="${id}-call-body" data-role="body" rows="${Math.min(14, text.split("\n").length + 1)}" spellcheck="false">${escapeHtml(text)}</textarea>`}
${method === "GET" ? "" : `<p class="note">This request is real. It changes the data of the key's team.</p>`}
<button type="submit">Send request</button>
<div class="result" hidden>
<p role="status"></p>
<details><summary>Headers</summary><pre tabindex="0"><code class="headers"></code></pre></details>
<pre tabindex="0"><code class="body"></code></pre>
</div>
</form></details>`;
}

/** The link opens the form of the console for a new key. */
const renderKey = (id: string, label: string, scope: string | null): string =>
  `<label for="${id}-call-key">${label}</label>
<input id="${id}-call-key" data-role="key" type="password" autocomplete="off" spellcheck="false" placeholder="Stays in this page until you leave it">
${
  scope === null
    ? ""
    : `<p class="note"><a href="/console/keys?new=true" target="_blank" rel="noopener">Create a key</a> with the scope <code>${scope}</code>. <label class="check"><input type="checkbox" data-role="show"> Use the key in samples</label></p>`
}`;

/** Optional headers are empty: a repeated `Idempotency-Key` would return the earlier response. */
function renderInput(id: string, place: string, { name, required, example, schema }: Parameter): string {
  const field = `${id}-call-${place}-${name}`;
  const value = place === "header" && !required ? "" : (example ?? "");
  const values = schema.enum?.map(String) ?? [];
  const attributes = `id="${escapeHtml(field)}" data-name="${escapeHtml(name)}" data-place="${place}"${required ? " required" : ""}`;
  const label = `<label for="${escapeHtml(field)}"><code>${escapeHtml(name)}</code></label>`;
  if (values.length === 0)
    return `${label}\n<input ${attributes} value="${escapeHtml(value)}" spellcheck="false">`;
  const options = ["", ...values].map(
    (each) => `<option${each === value ? " selected" : ""}>${escapeHtml(each)}</option>`,
  );
  return `${label}\n<select ${attributes}>${options.join("")}</select>`;
}
