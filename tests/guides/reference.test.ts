import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { documentOf } from "#server/rest/openapi/document";
import { listErrors } from "#server/rest/openapi/faults";
import { routes } from "#server/rest/routes";
import { API_SECTIONS, GUIDE_SEGMENTS, guideSegmentsOf } from "#server/shared/guides";
import { GET } from "../../app/docs/[[...guide]]/route";
import { projectRoot } from "../support/processes/processes";

/*
 * The API reference as its route responds with it: everything in the API description is in the HTML and in
 * the Markdown.
 */

type Schema = { [key: string]: unknown; properties?: Record<string, Schema> };
type Parameter = { name: string; description?: string; $ref?: string };
type Operation = {
  operationId: string;
  parameters: Parameter[];
  requestBody?: { content: Record<string, { schema: Schema }> };
  responses: Record<string, { content?: Record<string, { schema: Schema }> }>;
  security: { key?: string[] }[];
  "x-codeSamples": { source: string }[];
};

const document = documentOf(routes) as unknown as {
  paths: Record<string, Record<string, Operation>>;
  webhooks: Record<string, { post: Operation }>;
  components: { schemas: Record<string, Schema>; headers: object };
};
const errors = listErrors();

type Document = { type: string; text: string };

/** Each document is rendered once. */
const read = (address: string): Promise<Document> => {
  const known = rendered.get(address) ?? render(address);
  rendered.set(address, known);
  return known;
};
const rendered = new Map<string, Promise<Document>>();

async function render(address: string): Promise<Document> {
  const guide = guideSegmentsOf(address);
  if (!guide) throw new Error(`${address} is no page`);
  const response = await GET(new Request("http://localhost"), {
    params: Promise.resolve({ guide: [...guide] }),
  });
  expect([address, response.status]).toEqual([address, 200]);
  return { type: response.headers.get("content-type") ?? "", text: await response.text() };
}

const addresses = GUIDE_SEGMENTS.map((segments) => ["/docs", ...segments].join("/"));
const isPage = (address: string) => !/\.\w+$/.test(address);
const pages = addresses.filter(isPage);
const textOf = (html: string) =>
  html
    .replace(/<[^>]*>/g, "")
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&amp;", "&");

/** The names of all fields of a schema, with those of the schemas to which it refers. */
function fieldsOf(schema: unknown): string[] {
  if (Array.isArray(schema)) return schema.flatMap(fieldsOf);
  if (typeof schema !== "object" || schema === null) return [];
  const { $ref, properties = {} } = schema as Schema & { $ref?: string };
  if (typeof $ref === "string") return fieldsOf(document.components.schemas[$ref.split("/").at(-1) ?? ""]);
  const inside = Object.entries(schema).filter(([key]) =>
    ["properties", "items", "anyOf", "oneOf"].includes(key),
  );
  return [
    ...Object.keys(properties),
    ...inside.flatMap(([key, value]) =>
      fieldsOf(key === "properties" ? Object.values(value as object) : value),
    ),
  ];
}

const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    ...operation,
    name: `${method.toUpperCase()} ${path}`,
    page: `/docs/api/${(path.split("/")[2] ?? "").replace(".json", "")}`,
  })),
);
type Placed = (typeof operations)[number];

/** The part of a page about an error or an event. */
const partOf = (html: string, heading: string): string =>
  html.split("<section>").find((part) => textOf(part).trimStart().startsWith(`${heading} #`)) ?? "";

test("the colors of the guides are those of the console, in both themes and in print", async () => {
  const { text } = await read("/docs/guides.css");
  const console = readFileSync(path.join(projectRoot, "app/globals.css"), "utf8");
  const dark = /@media not print \{\s*\.dark \{[^}]*--page[^}]*\}\s*\}/;
  for (const part of [/^:root \{[^}]*--page[^}]*\}/m, dark]) expect(text).toContain(part.exec(console)?.[0]);
});

test("there is a page for each noun of the API, and no other", () => {
  const listed = API_SECTIONS.flatMap(({ pages: names }) => names as readonly string[]);
  const nouns = [...new Set(operations.map(({ page }) => page.replace("/docs/api/", "")))];
  expect([...listed].sort()).toEqual(["", "errors", "webhook-events", ...nouns].sort());
});

const namesOf = ({ parameters, requestBody, responses }: Placed): string[] => [
  ...parameters.map(({ name, $ref }) => name ?? $ref?.split("/").at(-1)),
  ...fieldsOf(Object.values(requestBody?.content ?? {}).map(({ schema }) => schema)),
  ...Object.values(responses).flatMap(({ content }) =>
    fieldsOf(Object.values(content ?? {}).map(({ schema }) => schema)),
  ),
];

test("each operation is on the page of its noun, with every parameter, field, error, sample and its scope", async () => {
  for (const operation of operations) {
    const { name, page, responses, security } = operation;
    const sections = (await read(page)).text.split("<section>");
    const part = sections.find((each) => each.includes(`<p><code>${name}</code></p>`)) ?? "";
    const missing = namesOf(operation).filter((each) => !part.includes(`<li><code>${each}</code> (`));
    expect([name, missing]).toEqual([name, []]);
    for (const status of Object.keys(responses).filter((each) => Number(each) >= 400))
      expect([name, part.includes(`<li>${status} `)]).toEqual([name, true]);
    expect([name, part.match(/class="sample"/g)?.length]).toEqual([name, operation["x-codeSamples"].length]);
    expect(textOf(part)).not.toMatch(/undefined|\[object|NaN/);
    const [scope] = security[0]?.key ?? [];
    if (scope) expect(part).toContain(`<code>${scope}</code>`);
  }
});

test("each parameter and each field of a request has a description", () => {
  const undescribed = (schema: Schema): string[] => [
    ...Object.entries(schema.properties ?? {}).flatMap(([name, field]) =>
      field.description === undefined ? [name] : undescribed(field),
    ),
    ...(schema.items === undefined ? [] : undescribed(schema.items as Schema)),
  ];
  for (const { name, parameters, requestBody } of operations) {
    const fields = Object.values(requestBody?.content ?? {}).flatMap(({ schema }) => undescribed(schema));
    const others = parameters.filter(({ $ref, description }) => !$ref && !description);
    expect([name, fields, others]).toEqual([name, [], []]);
  }
});

test("each operation is in the Markdown, on the overview with a link, and found by the search", async () => {
  const overview = (await read("/docs/api")).text;
  const index: { address: string; text: string }[] = JSON.parse((await read("/docs/search.json")).text);
  for (const operation of operations) {
    const { name, page, requestBody } = operation;
    const parts = (await read(`${page}.md`)).text.split("\n## ");
    const part = parts.find((each) => each.includes(`\n\`${name}\`\n`)) ?? "";
    expect([name, namesOf(operation).filter((each) => !part.includes(`- \`${each}\` (`))]).toEqual([
      name,
      [],
    ]);
    const [, address = ""] =
      new RegExp(`href="([^"]*)"><code>${name.replace(/[{}]/g, "\\$&")}</code>`).exec(overview) ?? [];
    const found = index.find((section) => section.address === address);
    expect(address).toMatch(new RegExp(`^${page}#`));
    const [content] = Object.values(requestBody?.content ?? {});
    for (const word of [name, ...Object.keys(content?.schema.properties ?? {})])
      expect(found?.text).toContain(word);
  }
});

test("the page of errors has each of them, with its status, name and action", async () => {
  const [{ text: html }, { text: markdown }] = await Promise.all([
    read("/docs/api/errors"),
    read("/docs/api/errors.md"),
  ]);
  for (const { status, name, action } of errors) {
    expect(partOf(html, `${status} ${name}`)).not.toBe("");
    expect(textOf(html)).toContain(action.replaceAll("`", ""));
    expect(markdown).toContain(`## ${status} ${name}\n`);
  }
});

test("the page of events has each of them with its payload, and how to verify a signature", async () => {
  const { text: html } = await read("/docs/api/webhook-events");
  for (const [type, { post }] of Object.entries(document.webhooks)) {
    const part = partOf(html, type);
    for (const name of fieldsOf(Object.values(post.requestBody?.content ?? {})[0]?.schema))
      expect(part).toContain(`<li><code>${name}</code> (`);
    expect(textOf(part)).toContain(`"type": "${type}"`);
  }
  expect(html).toContain('href="/docs/webhooks#verify-the-signature"');
});

test("each page has unique anchors, and its links lead to pages and anchors", async () => {
  for (const address of pages) {
    const { text: html } = await read(address);
    const ids = [...html.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id);
    expect(new Set(ids).size).toBe(ids.length);
    const links = [...html.matchAll(/href="([^"]+)"/g)].map(([, href = ""]) => href.replaceAll("&amp;", "&"));
    for (const link of new Set(links.filter((each) => /^[/#]/.test(each)))) {
      const [to = "", anchor] = link.split("#");
      if (/^\/(console|api|icon)/.test(to)) continue;
      const target = to === "" ? html : (await read(to)).text;
      if (anchor) expect([link, target.includes(` id="${anchor}"`)]).toEqual([link, true]);
    }
  }
});

test("each page is in llms.txt, and is there as Markdown without HTML", async () => {
  for (const address of pages) {
    const markdown = address === "/docs" ? "/docs.md" : `${address}.md`;
    const { type, text } = await read(markdown);
    expect(type).toMatch(/^text\/markdown/);
    expect(text).toMatch(/^# \S/);
    expect(text.replace(/^```[\s\S]*?^```$/gm, "").replace(/`[^`\n]*`/g, "")).not.toMatch(
      /<(section|div|p|ul|h\d)\b/,
    );
    if (address !== "/docs")
      expect((await read("/llms.txt")).text).toMatch(new RegExp(`\\]\\(${markdown}\\): \\S`));
  }
});

test("no page has a script or a style inside, and calls of operations send no session", async () => {
  for (const address of pages.filter((each) => each.startsWith("/docs/api")))
    expect((await read(address)).text).not.toMatch(/<script>|<style|style=|\son\w+=/);
  const { text } = await read("/docs/api.js");
  expect(text).toContain('credentials: "omit"');
});
