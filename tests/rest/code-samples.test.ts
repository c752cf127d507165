import { expect, test } from "vitest";
import { sampleCallOf } from "#server/rest/openapi/sample-call";
import { resendOf } from "#server/rest/openapi/sample-resend";
import type { Route } from "#server/rest/pipeline/route";
import { routes } from "#server/rest/routes";
import { runToExit, startProcess } from "../support/processes/processes";
import { hasPhp, hasPython, type RunSamples, runNode, runPhp, runPython } from "../support/processes/samples";
import { type Received, startHttpSink } from "../support/servers/http-sink";
import { openWorld } from "../support/world";
import { nameOf } from "./route-calls";

/* The code samples of the OpenAPI document, executed unchanged. */

for (const [program, isInstalled] of [
  ["python3", hasPython()],
  ["php", hasPhp()],
] as const)
  if (!isInstalled)
    process.stdout.write(
      `NOT RUN: Debian's ${program} is not on this machine; its samples are not executed.\n`,
    );

type Operation = { "x-codeSamples": { label: string; source: string }[] };

const world = await openWorld();
const { token } = await world.key();
const { paths } = (await world.api("GET", "/api/openapi.json")).body as {
  paths: Record<string, Record<string, Operation>>;
};

const sourceOf = ({ method, path }: Route, label: string): string => {
  const samples = paths[path]?.[method.toLowerCase()]?.["x-codeSamples"] ?? [];
  const sample = samples.find((each) => each.label === label);
  if (!sample) throw new Error(`${method} ${path} has no sample for ${label}`);
  return sample.source;
};
const routeOf = (name: string): Route => {
  const route = routes.find((each) => nameOf(each) === name);
  if (!route) throw new Error(`There is no route ${name}`);
  return route;
};

test("samples in Node get responses of the API", async () => {
  const names = ["POST /api/templates", "POST /api/suppressions/csv", "GET /api/emails", "GET /api/health"];
  const runs = names.map((name) => ({ source: sourceOf(routeOf(name), "Node"), baseUrl: world.baseUrl }));
  const [template, ...others] = await runNode(runs, token);
  expect(template).toMatch(/^\{ object: 'template'|^\{ id: /);
  expect(others).toEqual(others.map(() => expect.stringMatching(/^20[01] \{/)));
  expect(others).toHaveLength(3);
});

test("samples for the shell quote special characters", async () => {
  const source = sourceOf(routeOf("POST /api/emails/batch"), "curl");
  const { stdout } = await runToExit(
    await startProcess("/bin/sh", ["-c", source.replace(/^curl /, "printf '%s\\n' ")], {
      env: { BACKSTAMP_URL: world.baseUrl, BACKSTAMP_KEY: token },
    }),
  );
  expect(stdout).toContain(`${world.baseUrl}/api/emails/batch\n`);
  expect(stdout).toContain(`Authorization: Bearer ${token}\n`);
  const [, body = ""] = /--data-binary\n(\[[\s\S]*\])\n$/.exec(stdout) ?? [];
  expect(JSON.parse(body)).toHaveLength(2);
});

const withClient = routes.filter((route) => resendOf(sampleCallOf(route)) !== null);

type Language = {
  name: string;
  label: string;
  sampled: readonly Route[];
  runSamples: RunSamples;
  isInstalled: boolean;
};
const LANGUAGES: Language[] = [
  {
    name: "Node with the official client",
    label: "Node",
    sampled: withClient,
    runSamples: runNode,
    isInstalled: true,
  },
  {
    name: "Node without it",
    label: "Node",
    sampled: routes.filter((route) => !withClient.includes(route)),
    runSamples: runNode,
    isInstalled: true,
  },
  { name: "Python", label: "Python", sampled: routes, runSamples: runPython, isInstalled: hasPython() },
  { name: "PHP", label: "PHP", sampled: routes, runSamples: runPhp, isInstalled: hasPhp() },
];

test.each(LANGUAGES.filter(({ isInstalled }) => isInstalled))(
  "each sample in $name sends its example",
  async ({ label, sampled, runSamples }) => {
    const sink = await startHttpSink();
    // The base URL of each sample identifies its requests.
    const runs = sampled.map((route, index) => ({
      source: sourceOf(route, label),
      baseUrl: `http://127.0.0.1:${sink.port}/sample-${index}`,
    }));
    await runSamples(runs, token);
    await sink.close();
    for (const [index, route] of sampled.entries()) {
      const base = `/sample-${index}/`;
      const requests = sink.received.filter(({ path }) => path.startsWith(base));
      expect(requests, nameOf(route)).toHaveLength(1);
      for (const request of requests)
        expectExample({ ...request, path: request.path.slice(base.length - 1) }, route);
    }
  },
);

function expectExample({ method, path, headers, body }: Received, route: Route): void {
  const { example = {}, access } = route;
  const [pathname = "", query = ""] = path.split("?");
  const pattern = route.path.replace(/[.]/g, "\\.").replace(/\{\w+\}/g, "[^/]+");
  expect({ route: nameOf(route), method }).toMatchObject({ method: route.method });
  expect(pathname).toMatch(new RegExp(`^${pattern}$`));
  expect(Object.fromEntries(new URLSearchParams(query))).toEqual(example.query ?? {});
  expect(headers).toMatchObject(example.headers ?? {});
  expect(headers.authorization).toBe(access === "public" ? undefined : `Bearer ${token}`);
  if (example.body !== undefined) expect(route.accepts ? body : JSON.parse(body)).toEqual(example.body);
}
