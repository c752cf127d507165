import type { Route } from "../pipeline/route";
import { type SampleCall, sampleCallOf } from "./sample-call";
import { resendOf } from "./sample-resend";

export type Sample = { lang: string; label: string; source: string };

/** Code samples for the example of a route. Node uses the official client of Resend where it has the call. */
export function samplesOf(route: Route): Sample[] {
  const call = sampleCallOf(route);
  return [
    { lang: "bash", label: "curl", source: curlOf(call) },
    { lang: "javascript", label: "Node", source: resendOf(call) ?? nodeOf(call) },
    { lang: "python", label: "Python", source: pythonOf(call) },
    { lang: "php", label: "PHP", source: phpOf(call) },
  ];
}

const indent = (text: string, by: string): string => text.replace(/\n/g, `\n${by}`);
const jsonOf = (value: unknown): string => JSON.stringify(value, null, 2);
const shellQuoted = (text: string): string => `'${text.replace(/'/g, `'\\''`)}'`;

function curlOf({ method, target, headers, needsKey, json, text }: SampleCall): string {
  const payload = json === undefined ? text : jsonOf(json);
  return [
    `curl ${method === "GET" ? "" : `-X ${method} `}"$BACKSTAMP_URL${target}"`,
    ...(needsKey ? ['-H "Authorization: Bearer $BACKSTAMP_KEY"'] : []),
    ...headers.map(([name, value]) => `-H ${shellQuoted(`${name}: ${value}`)}`),
    ...(payload === undefined ? [] : [`--data-binary ${shellQuoted(payload)}`]),
  ].join(" \\\n  ");
}

function nodeOf({ method, target, headers, needsKey, json, text }: SampleCall): string {
  const lines = [
    ...(needsKey ? ['Authorization: "Bearer " + BACKSTAMP_KEY,'] : []),
    ...headers.map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)},`),
  ];
  const options = [
    ...(method === "GET" ? [] : [`  method: "${method}",`]),
    ...(lines.length === 0 ? [] : ["  headers: {", ...lines.map((line) => `    ${line}`), "  },"]),
    ...(json === undefined ? [] : [`  body: JSON.stringify(${indent(jsonOf(json), "  ")}),`]),
    ...(text === undefined ? [] : [`  body: ${JSON.stringify(text)},`]),
  ];
  return [
    `const { BACKSTAMP_URL${needsKey ? ", BACKSTAMP_KEY" : ""} } = process.env;`,
    `const response = await fetch(BACKSTAMP_URL + "${target}"${options.length === 0 ? "" : `, {\n${options.join("\n")}\n}`});`,
    "console.log(response.status, await response.text());",
  ].join("\n");
}

function pythonOf({ method, target, headers, needsKey, json, text }: SampleCall): string {
  const lines = [
    ...(needsKey ? [`"Authorization": f"Bearer {os.environ['BACKSTAMP_KEY']}",`] : []),
    ...headers
      // The argument `json=` sets Content-Type.
      .filter(([name]) => json === undefined || name !== "Content-Type")
      .map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)},`),
  ];
  return [
    "import os",
    "import requests",
    "",
    `response = requests.${method.toLowerCase()}(`,
    `    os.environ["BACKSTAMP_URL"] + ${JSON.stringify(target)},`,
    ...(lines.length === 0 ? [] : ["    headers={", ...lines.map((line) => `        ${line}`), "    },"]),
    ...(json === undefined ? [] : [`    json=${indent(pythonLiteral(json), "    ")},`]),
    ...(text === undefined ? [] : [`    data=${JSON.stringify(text)},`]),
    ")",
    "print(response.status_code, response.text)",
  ].join("\n");
}

/** JSON with Python's True, False and None. String literals are the same in both languages. */
const pythonLiteral = (value: unknown): string =>
  JSON.stringify(value, null, 4).replace(/"(?:[^"\\]|\\.)*"|\b(?:true|false|null)\b/g, (token) =>
    token.startsWith('"') ? token : ({ true: "True", false: "False", null: "None" }[token] ?? token),
  );

/** With streams, which need no extension of PHP. */
function phpOf({ method, target, headers, needsKey, json, text }: SampleCall): string {
  const lines = [
    ...(needsKey ? ['"Authorization: Bearer " . getenv("BACKSTAMP_KEY"),'] : []),
    ...headers.map(([name, value]) => `${phpLiteral(`${name}: ${value}`)},`),
  ];
  return [
    "<?php",
    '$context = stream_context_create(["http" => [',
    `    "method" => "${method}",`,
    ...(lines.length === 0 ? [] : ['    "header" => [', ...lines.map((line) => `        ${line}`), "    ],"]),
    ...(json === undefined ? [] : [`    "content" => json_encode(${indent(phpLiteral(json), "    ")}),`]),
    ...(text === undefined ? [] : [`    "content" => ${phpText(text)},`]),
    '    "ignore_errors" => true,',
    "]]);",
    `echo file_get_contents(getenv("BACKSTAMP_URL") . ${phpLiteral(target)}, false, $context);`,
  ].join("\n");
}

const phpText = (text: string): string =>
  /[\r\n]/.test(text) ? JSON.stringify(text).replaceAll("$", "\\$") : phpLiteral(text);

/** A value as a literal of PHP. An object is an array with names. */
function phpLiteral(value: unknown): string {
  if (typeof value === "string") return `"${value.replace(/[\\"$]/g, "\\$&")}"`;
  if (typeof value !== "object" || value === null) return String(value);
  const items = Array.isArray(value)
    ? value.map(phpLiteral)
    : Object.entries(value).map(([name, item]) => `${phpLiteral(name)} => ${phpLiteral(item)}`);
  return items.length === 0
    ? "[]"
    : `[\n    ${items.map((item) => `${indent(item, "    ")},`).join("\n    ")}\n]`;
}
