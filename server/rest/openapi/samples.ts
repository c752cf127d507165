import type { Route } from "../pipeline/route";

/** The id in examples. */
const sampleId = "0198c1f2-7a34-7c5e-9b0d-3f4a5b6c7d8e";

export type Sample = { lang: string; label: string; source: string };

type SampleCall = {
  method: string;
  /** Path with query. */
  target: string;
  headers: [name: string, value: string][];
  needsKey: boolean;
  json: unknown;
  text: string | undefined;
};

/** Code samples for the example of a route. They read the base URL and the key from environment variables. */
export function samplesOf(route: Route): Sample[] {
  const call = sampleCallOf(route);
  return [
    { lang: "bash", label: "curl", source: curlOf(call) },
    { lang: "javascript", label: "Node", source: nodeOf(call) },
    { lang: "python", label: "Python", source: pythonOf(call) },
  ];
}

/** An example value for a path variable. */
export const sampleValueOf = (name: string): string => (name === "version" ? "1" : sampleId);

function sampleCallOf({ method, path, access, accepts, example = {} }: Route): SampleCall {
  const query = new URLSearchParams(example.query).toString();
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => sampleValueOf(name));
  return {
    method,
    target: query === "" ? filled : `${filled}?${query}`,
    headers: [
      ...Object.entries(example.headers ?? {}),
      ...(example.body === undefined
        ? []
        : [["content-type", accepts ?? "application/json"] satisfies [string, string]]),
    ].map(([name, value]) => [name.replace(/(^|-)[a-z]/g, (letter) => letter.toUpperCase()), value]),
    needsKey: access !== "public",
    json: accepts ? undefined : example.body,
    text: accepts ? String(example.body) : undefined,
  };
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
