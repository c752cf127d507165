#!/usr/bin/env node
// Plain JavaScript without imports of ours or of packages: it runs where only this file and Node.js are.
import { randomUUID } from "node:crypto";
import { readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";

/*
 * Creates or updates templates from files over the REST API. Exit codes: 0 success, 1 rejected or failed, 2
 * invalid arguments. A new template is published at once, as `POST /api/templates` does; later pushes change
 * its draft.
 */
const usage = `Usage: backstamp template push FILE… [options], or node push-templates.mjs FILE… [options]

Creates or updates templates from .html, .mjml and .tsx files over the REST API.

  --alias ALIAS      alias or id of the template (default: the name of the file; only with one file)
  --name NAME        name of the template (default: the name of the file, for a new template)
  --subject TEXT     subject
  --from MAILBOX     sender, such as "Shop <shop@example.com>"
  --reply-to ADDRESS reply address
  --text FILE        file with the text part (default: generated from the HTML of each email)
  --publish          publish the change; without it, an existing template gets a draft
  --url URL          address of Backstamp (default: BACKSTAMP_URL)
  --key-file FILE    file with an API key that has the permission templates:write (default: BACKSTAMP_KEY)

.mjml needs the package mjml. .tsx needs esbuild, react and @react-email/render: the default export is the email; the exports
templateProps (its props) and subject are optional. The packages are those of the folder of the file.
`;

const OPTIONS = /** @type {const} */ ({
  alias: { type: "string" },
  name: { type: "string" },
  subject: { type: "string" },
  from: { type: "string" },
  "reply-to": { type: "string" },
  text: { type: "string" },
  publish: { type: "boolean" },
  url: { type: "string" },
  "key-file": { type: "string" },
  help: { type: "boolean", short: "h" },
});

const callMs = 30_000;
const attemptsMax = 4;

/** A fault that the person can correct; `exitCode` is that of the program. */
class PushError extends Error {
  /** @param {string} message @param {number} [exitCode] */
  constructor(message, exitCode = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}

/**
 * Imports a module that is written beside the file, so that its imports are those of the folder of the file,
 * and removes it.
 * @param {string} file
 * @param {string} source
 */
async function importBeside(file, source) {
  const module = path.join(path.dirname(file), `.${path.basename(file)}.${randomUUID()}.mjs`);
  try {
    await writeFile(module, source);
    return await import(pathToFileURL(module).href);
  } finally {
    await rm(module, { force: true });
  }
}

/**
 * The packages that a kind of file needs, from the folder of the file.
 * @param {string} file
 * @param {readonly string[]} names
 */
async function loadPackages(file, names) {
  const source = names.map((name, index) => `export * as p${index} from ${JSON.stringify(name)};`);
  const loaded = await importBeside(file, source.join("\n")).catch((error) => {
    const isMissing = error.code === "ERR_MODULE_NOT_FOUND" && error.message.includes(path.basename(file));
    throw new PushError(
      isMissing
        ? `${path.basename(file)} needs ${names.join(" and ")}. Install it in ${path.dirname(file)}: npm install --save-dev ${names.join(" ")}`
        : `The package ${names.join(" or ")} cannot be loaded: ${error.message}`,
    );
  });
  // A CommonJS package has its exports in `default`.
  return names.map((_, index) => ({ ...loaded[`p${index}`].default, ...loaded[`p${index}`] }));
}

/** @param {string} file */
async function renderMjml(file) {
  const [mjml] = await loadPackages(file, ["mjml"]);
  const convert = mjml.default?.default ?? mjml.default;
  const { html, errors = [] } = await convert(await readText(file), {
    filePath: file,
    validationLevel: "soft",
    keepComments: true,
  });
  if (errors.length > 0)
    throw new PushError(
      `${path.basename(file)} is not valid MJML:\n${errors.map(({ formattedMessage = "" }) => `  ${formattedMessage}`).join("\n")}`,
    );
  return { html };
}

/**
 * Compiles the file for Node.js beside it, so that its imports are those of its folder, and renders its
 * default export.
 * @param {string} file
 */
async function renderReact(file) {
  const [esbuild, react, email] = await loadPackages(file, ["esbuild", "react", "@react-email/render"]);
  const { outputFiles } = await esbuild.build({
    entryPoints: [file],
    bundle: true,
    packages: "external",
    platform: "node",
    format: "esm",
    jsx: "automatic",
    write: false,
    logLevel: "silent",
  });
  const { default: Email, templateProps = {}, subject } = await importBeside(file, outputFiles[0].text);
  if (typeof Email !== "function")
    throw new PushError(`${path.basename(file)} has no default export that is a component.`);
  const html = await email.render(react.createElement(Email, templateProps));
  return { html, ...(typeof subject === "string" && { subject }) };
}

/** @param {string} file */
const readHtml = async (file) => ({ html: await readText(file) });

/** @type {Record<string, (file: string) => Promise<{ html: string, subject?: string }>>} */
const RENDERERS = {
  ".html": readHtml,
  ".htm": readHtml,
  ".mjml": renderMjml,
  ".tsx": renderReact,
  ".jsx": renderReact,
};

/**
 * The alias of a file: its name in lowercase, with hyphens and without accents, from the first letter or
 * digit on. Decomposed first, because systems write the same accents in different ways. @param {string} name
 */
const aliasOf = (name) =>
  name
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/[^a-z0-9_-]/g, "-")
    .replace(/^[-_]+/, "")
    .slice(0, 64);

/**
 * How a file is rendered, and the name and the alias of its template.
 * @param {string} given
 * @param {string} [ownAlias]
 */
function planPush(given, ownAlias) {
  const file = path.resolve(given);
  const extension = path.extname(file);
  const render = RENDERERS[extension.toLowerCase()];
  if (!render) throw new PushError(`${given} is none of ${Object.keys(RENDERERS).join(", ")}.`, 2);
  const name = path.basename(file, extension);
  const alias = ownAlias ?? aliasOf(name);
  if (alias === "")
    throw new PushError(
      `The name of ${given} has no letter from a to z and no digit. Push it with --alias.`,
      2,
    );
  return { given, file, render, name, alias };
}

/** The second file would replace the content of the first. @param {ReturnType<typeof planPush>[]} plans */
function rejectSharedAliases(plans) {
  for (const [index, { given, alias }] of plans.entries()) {
    const first = plans.slice(0, index).find((plan) => plan.alias === alias);
    if (first)
      throw new PushError(
        `${first.given} and ${given} have the same alias ${alias}. Rename one, or push it by itself with --alias.`,
        2,
      );
  }
}

/**
 * The REST API with a key. A call that is rejected by the rate limit is repeated. @param {string} url @param
 * {string} key
 */
function openApi(url, key) {
  const base = `${url.endsWith("/") ? url.slice(0, -1) : url}/api`;
  /** @param {string} method @param {string} route @param {object} [body] */
  return async function call(method, route, body) {
    for (let attempt = 1; ; attempt++) {
      const response = await fetch(`${base}${route}`, {
        method,
        headers: {
          authorization: `Bearer ${key}`,
          ...(body && { "content-type": "application/json" }),
        },
        signal: AbortSignal.timeout(callMs),
        redirect: "error",
        ...(body && { body: JSON.stringify(body) }),
      }).catch((error) => {
        throw new PushError(`${url} does not respond: ${error.cause?.message ?? error.message}`);
      });
      if (response.status === 429 && attempt < attemptsMax) {
        await wait(Math.min(60, Number(response.headers.get("retry-after")) || 1) * 1_000);
        continue;
      }
      const text = await response.text();
      let result;
      try {
        result = JSON.parse(text);
      } catch {
        throw new PushError(`${url} is not the address of a Backstamp API (status ${response.status}).`);
      }
      return { status: response.status, result, reason: parseReason(response.headers) };
    }
  };
}

/** The sentence in the header of a 403, whose body is the same for every reason. @param {Headers} headers */
const parseReason = (headers) =>
  headers
    .get("x-backstamp-reason")
    ?.replace(/^[a-z_]+;detail="|"$/g, "")
    .replace(/\\(["\\])/g, "$1");

/** @param {{ status: number, result: any, reason?: string }} answer */
function requireSuccess({ status, result, reason }) {
  if (reason !== undefined) throw new PushError(reason);
  if (status === 401) throw new PushError("The API key is not valid.");
  if (status >= 400) throw new PushError(result.message ?? `The API responded with status ${status}.`);
  return result;
}

/**
 * Creates or updates one template. Returns what happened, for the person.
 * @param {ReturnType<typeof openApi>} call
 * @param {string} alias
 * @param {string} name
 * @param {Record<string, unknown>} content
 * @param {boolean} isPublishing
 */
async function pushTemplate(call, alias, name, content, isPublishing) {
  const route = `/templates/${encodeURIComponent(alias)}`;
  const found = await call("GET", route);
  if (found.status === 404) {
    const { warnings = [] } = requireSuccess(await call("POST", "/templates", { name, alias, ...content }));
    return { outcome: "created and published", warnings };
  }
  const existing = requireSuccess(found);
  const change = Object.fromEntries(
    Object.entries(content).filter(
      ([field, value]) => JSON.stringify(existing[field]) !== JSON.stringify(value),
    ),
  );
  const isChanged = Object.keys(change).length > 0;
  const { warnings = [] } = isChanged ? requireSuccess(await call("PATCH", route, change)) : {};
  if (isPublishing && (isChanged || existing.has_unpublished_versions || existing.status === "draft")) {
    requireSuccess(await call("POST", `${route}/publish`));
    return { outcome: isChanged ? "updated and published" : "published", warnings };
  }
  return { outcome: isChanged ? "updated as a draft" : "unchanged", warnings };
}

/** @param {readonly string[]} args */
async function run(args) {
  let parsed;
  try {
    parsed = parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
  } catch (error) {
    throw new PushError(`${error instanceof Error ? error.message : error}\n\n${usage}`, 2);
  }
  const { values, positionals } = parsed;
  if (values.help) return void process.stdout.write(usage);
  if (positionals.length === 0) throw new PushError(usage, 2);
  if (positionals.length > 1 && (values.alias ?? values.name ?? values.subject ?? values.text) !== undefined)
    throw new PushError("Push one file at a time with --alias, --name, --subject or --text.", 2);
  const url = values.url ?? process.env.BACKSTAMP_URL;
  if (!url || !URL.canParse(url))
    throw new PushError("Set --url or BACKSTAMP_URL, such as https://mail.example.com.", 2);
  const keyFile = values["key-file"];
  const key = keyFile === undefined ? process.env.BACKSTAMP_KEY : (await readText(keyFile)).trim();
  if (!key) throw new PushError("Set BACKSTAMP_KEY, or --key-file with a file that has the API key.", 2);
  const call = openApi(url, key);
  const plans = positionals.map((given) => planPush(given, values.alias));
  rejectSharedAliases(plans);
  for (const { given, file, render, name, alias } of plans) {
    await readText(file);
    const rendered = await render(file);
    const content = Object.entries({
      name: values.name,
      ...rendered,
      subject: values.subject ?? rendered.subject,
      from: values.from,
      reply_to: values["reply-to"] && [values["reply-to"]],
      text: values.text && (await readText(values.text)),
    }).filter(([, value]) => value !== undefined);
    const isPublishing = values.publish === true;
    const { outcome, warnings } = await pushTemplate(
      call,
      alias,
      name,
      Object.fromEntries(content),
      isPublishing,
    );
    process.stdout.write(`${given}: ${outcome} (${alias})\n`);
    for (const warning of warnings) process.stderr.write(`${given}: warning: ${warning}\n`);
  }
}

/** @param {string} file */
const readText = (file) =>
  readFile(file, "utf8").catch((error) => {
    throw new PushError(`${file} cannot be read: ${error.message}`);
  });

try {
  await run(process.argv.slice(2));
} catch (error) {
  const fault = error instanceof Error ? error : new Error(String(error));
  process.stderr.write(
    `${fault instanceof PushError && fault.exitCode === 2 ? "" : "template push: "}${fault.message}\n`,
  );
  process.exitCode = fault instanceof PushError ? fault.exitCode : 1;
}
