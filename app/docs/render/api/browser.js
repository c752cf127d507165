/*
 * The script of the API reference: the address of this host in samples, and requests from the page. The key
 * that a user enters is only in the memory of the page.
 */

const shownMax = 100_000;

addEventListener("DOMContentLoaded", () => {
  if (location.hash.startsWith("#/")) followOldLink(location.hash.split("/"));
  for (const value of document.querySelectorAll('[data-value="url"]')) value.textContent = location.origin;
  for (const form of document.querySelectorAll(".call form")) prepareCall(form);
});

/** Links to operations once were `#/Tag/operation`, and all of them were on one page. */
function followOldLink([, tag = "", operation]) {
  const links = [...document.querySelectorAll("main a[href^='/docs/api/']")];
  const link = operation
    ? links.find(({ hash }) => hash === `#${operation}`)
    : links.find(({ textContent }) => textContent === tag.replace(/%20|_/g, " "));
  if (link) location.replace(link.href);
}

/** All forms of a page have the same key. */
function prepareCall(form) {
  const key = form.querySelector("[data-role=key]");
  const show = form.querySelector("[data-role=show]");
  key?.addEventListener("input", () => enterKey(key.value));
  show?.addEventListener("change", () => {
    for (const other of document.querySelectorAll("[data-role=show]")) other.checked = show.checked;
    fillKey();
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void sendRequest(form);
  });
}

function enterKey(token) {
  for (const field of document.querySelectorAll("[data-role=key]")) field.value = token;
  fillKey();
}

function fillKey() {
  const key = document.querySelector("[data-role=key]").value.trim();
  const isUsed = document.querySelector("[data-role=show]")?.checked && /^\w+$/.test(key);
  for (const value of document.querySelectorAll('[data-value="key"]'))
    value.textContent = isUsed ? key : "re_your_key";
}

/** The request of a form. The session of the console is not part of it. */
function readRequest(form) {
  let path = form.dataset.path;
  const query = new URLSearchParams();
  const headers = new Headers();
  for (const { dataset, value } of form.querySelectorAll("[data-place]")) {
    if (dataset.place === "path") path = path.replace(`{${dataset.name}}`, encodeURIComponent(value));
    else if (value !== "" && dataset.place === "query") query.append(dataset.name, value);
    else if (value !== "") headers.set(dataset.name, value);
  }
  const key = form.querySelector("[data-role=key]")?.value.trim();
  if (key) headers.set("Authorization", `Bearer ${key}`);
  const body = form.querySelector("[data-role=body]")?.value;
  if (body) headers.set("Content-Type", form.dataset.type);
  const options = { headers, credentials: "omit", redirect: "manual", cache: "no-store" };
  return [
    query.size === 0 ? path : `${path}?${query}`,
    { ...options, method: form.dataset.method, ...(body ? { body } : {}) },
  ];
}

async function sendRequest(form) {
  const button = form.querySelector("button[type=submit]");
  const result = form.querySelector(".result");
  const status = result.querySelector("[role=status]");
  const body = result.querySelector(".body");
  const headers = result.querySelector(".headers");
  button.disabled = true;
  result.hidden = false;
  result.dataset.state = "";
  status.textContent = "Sending…";
  body.textContent = "";
  headers.textContent = "";
  const startedAt = performance.now();
  try {
    const response = await fetch(...readRequest(form));
    const text = await readBody(response);
    const durationMs = Math.round(performance.now() - startedAt);
    result.dataset.state = response.ok ? "ok" : "error";
    status.textContent =
      response.type === "opaqueredirect"
        ? `Redirect · ${durationMs} ms`
        : `${response.status} ${response.statusText} · ${durationMs} ms`;
    headers.textContent = [...response.headers].map(([name, value]) => `${name}: ${value}`).join("\n");
    body.textContent = text;
  } catch (error) {
    result.dataset.state = "error";
    status.textContent = `The request could not be sent: ${error.message}`;
  } finally {
    button.disabled = false;
  }
}

async function readBody(response) {
  const type = response.headers.get("content-type") ?? "";
  if (!/json|text|csv|xml/.test(type)) {
    const { size } = await response.blob();
    return `${size} bytes${type && ` of the type ${type}`}`;
  }
  const text = await response.text();
  const shown = type.includes("json") ? formatJson(text) : text;
  return shown.length > shownMax ? `${shown.slice(0, shownMax)}…` : shown;
}

function formatJson(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
