/*
 * The script of the API reference, after that of the guides: a form at each operation that sends its request. A key that a user enters
 * is only in the memory of the page, and the session of the console is not part of a request.
 */

const shownMax = 100_000;
const OPERATION = /^(GET|POST|PUT|PATCH|DELETE) (\/api\/\S+)$/;

addEventListener("DOMContentLoaded", () => {
  for (const section of document.querySelectorAll("article section")) {
    const [, method, path] = OPERATION.exec(section.querySelector("p > code")?.textContent ?? "") ?? [];
    if (method) section.querySelector(".beside").append(createForm(method, path));
  }
});

/** The form, which is filled in with the example of the operation when it is opened. */
function createForm(method, path) {
  const details = create("details", { className: "try" }, create("summary", { textContent: "Try it" }));
  const key = create("input", {
    className: "key",
    type: "password",
    autocomplete: "off",
    placeholder: "Stays in this page",
  });
  const target = create("input", { value: path, spellcheck: false });
  const body = create("textarea", { rows: 8, spellcheck: false });
  const result = create("pre", { hidden: true, tabIndex: 0 }, create("code"));
  const status = create("p", { role: "status" });
  const form = create(
    "form",
    {},
    create("label", { textContent: "API key" }, key),
    create("label", { textContent: "Path" }, target),
    ...(method === "GET" ? [] : [create("label", { textContent: "Body" }, body)]),
    create("button", { textContent: method === "GET" ? "Send request" : "Send real request" }),
    status,
    result,
  );
  // All forms of a page have the same key.
  key.addEventListener("input", () => {
    for (const other of document.querySelectorAll(".try .key")) other.value = key.value;
  });
  let type = "application/json";
  details.addEventListener(
    "toggle",
    async () => {
      const example = await readExample(method, path).catch(() => null);
      if (!example) return;
      type = example.type;
      target.value = example.target;
      body.value = example.body;
    },
    { once: true },
  );
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    status.textContent = "Sending…";
    result.hidden = true;
    const headers = body.value === "" ? {} : { "Content-Type": type };
    if (key.value.trim() !== "") headers.Authorization = `Bearer ${key.value.trim()}`;
    const options = { method, headers, credentials: "omit", redirect: "manual", cache: "no-store" };
    try {
      const response = await fetch(target.value, { ...options, body: body.value || undefined });
      const text = await response.text();
      status.textContent = `${response.status} ${response.statusText}`;
      result.firstChild.textContent = formatJson(text).slice(0, shownMax);
      result.hidden = text === "";
    } catch (error) {
      status.textContent = `The request could not be sent: ${error.message}`;
    }
  });
  details.append(form);
  return details;
}

let loading;

/** The example of an operation in the API description. */
async function readExample(method, path) {
  loading ??= fetch("/api/openapi.json").then((response) => response.json());
  const { parameters, requestBody } = (await loading).paths[path][method.toLowerCase()];
  let target = path;
  const query = new URLSearchParams();
  for (const { in: place, name, example } of parameters) {
    if (example === undefined) continue;
    if (place === "path") target = target.replace(`{${name}}`, example);
    if (place === "query") query.append(name, example);
  }
  const [type, { example = "" }] = Object.entries(requestBody?.content ?? {})[0] ?? ["", {}];
  return {
    type,
    target: query.size === 0 ? target : `${target}?${query}`,
    body: typeof example === "string" ? example : JSON.stringify(example, null, 2),
  };
}

function formatJson(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
