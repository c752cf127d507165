import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { NextRequest } from "next/server";
import { describe, expect, test } from "vitest";
import { routes } from "#server/rest/routes";
import { GUIDE_ALIASES } from "#server/shared/guides";
import { config, proxy } from "../proxy";

const app = fileURLToPath(new URL("../app", import.meta.url));
const id = "01900000-0000-7000-8000-000000000000";

/** The paths of all folders of `app` that contain such a file, each without and with a trailing slash. */
const addressesOf = (name: string): string[] =>
  readdirSync(app, { recursive: true, encoding: "utf8" })
    .filter((file) => path.basename(file) === name)
    .map((file) =>
      path
        .dirname(file)
        .replace(/^\.$/, "")
        .replace(/\(.*?\)\//g, ""),
    )
    .map((folder) => `/${folder.replace(/\[\[\.\.\..+?\]\]/, "emails").replace(/\[.+?\]/g, id)}`)
    .flatMap((address) => (address === "/" ? [address] : [address, `${address}/`]));

/** Next.js compiles a matcher to the same regular expression, anchored at both ends. */
const isProxied = (address: string): boolean =>
  config.matcher.some((matcher) => new RegExp(`^${matcher}$`).test(address));

describe("the content security policy of pages", () => {
  const files = addressesOf("route.ts").filter((address) => !address.startsWith("/docs/"));
  test.each(files)("is not set on %s, which sets its own", (address) => {
    expect(isProxied(address)).toBe(false);
  });

  test.each([...addressesOf("page.tsx"), "/no/such/page", "/console/emails/x/body/more", "/apis"])(
    "is set on the page %s",
    (address) => {
      expect(isProxied(address)).toBe(true);
    },
  );

  test("allows the guides, which are created by the build, only scripts and styles in files", () => {
    for (const address of [
      "/docs",
      "/docs/install",
      "/docs/smtp/",
      "/docs/guides.js",
      "/docs/api",
      "/docs/api/emails",
      "/docs/api.md",
      "/llms.txt",
    ]) {
      expect(isProxied(address)).toBe(true);
      const policy = ask("GET", address).headers.get("content-security-policy");
      expect(policy).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self';/);
      expect(policy).not.toMatch(/unsafe|nonce/);
    }
    for (const address of ["/docs/api/no-page", "/docs/no-guide", "/docs/install.mdx"])
      expect(ask("GET", address).headers.get("content-security-policy")).toMatch(/'nonce-/);
  });

  test("lets no other site frame a page", () => {
    for (const address of ["/console", "/login", "/docs", "/no/such/page"])
      expect(ask("GET", address).headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
  });

  test("is not set on a file whose decoded name contains slashes", () => {
    expect(isProxied(`/console/emails/${id}/files/a/b`)).toBe(false);
  });
});

const ask = (method: string, address: string, headers: Record<string, string> = {}) =>
  proxy(new NextRequest(`https://mail.example.com${address}`, { method, headers }));
const isPassedOn = (response: Response) => response.headers.get("x-middleware-next") === "1";

describe("a base URL without /api", () => {
  const nouns = new Set(
    routes.filter(({ access }) => typeof access === "object").map(({ path }) => path.split("/")[2] ?? ""),
  );

  test.each([...nouns])("is reported to a client that calls /%s", async (noun) => {
    expect(isProxied(`/${noun}`)).toBe(true);
    for (const [method, address] of [
      ["POST", `/${noun}`],
      ["GET", `/${noun}/${id}?limit=1`],
      ["DELETE", `/${noun}/${id}`],
    ] as const) {
      const response = ask(method, address, { accept: "*/*", authorization: "Bearer re_x" });
      expect(response.status).toBe(404);
      const path = address.split("?")[0];
      const message = `There is no ${path}: the API is below /api. Set the base URL of your client to https://mail.example.com/api. For a client that drops the path of a base URL, set BACKSTAMP_API_HOST.`;
      expect(await response.json()).toEqual({ error: message, name: "not_found", message, statusCode: 404 });
    }
  });

  test("replaces no page, and a browser with a mistyped URL gets the not-found page", () => {
    for (const address of [...addressesOf("page.tsx"), "/", "/no/such/page", "/emails-of-mine"])
      expect([address, isPassedOn(ask("GET", address))]).toEqual([address, true]);
    expect(isPassedOn(ask("GET", "/emails", { accept: "text/html,*/*;q=0.8" }))).toBe(true);
  });
});

test.each([
  ["/api/trpc/%zz", "/api/trpc/%25zz"],
  ["/api/emails/%E0%A4%A?limit=1", "/api/emails/%25E0%25A4%25A?limit=1"],
  ["/api/suppressions/ann%40example.com", null],
])("below /api, %s reaches its route file", (address, rewritten) => {
  expect(isProxied(address.split("?")[0] ?? "")).toBe(true);
  const response = ask("GET", address);
  const target = response.headers.get("x-middleware-rewrite");
  expect(target).toBe(rewritten && `https://mail.example.com${rewritten}`);
  expect(isPassedOn(response)).toBe(rewritten === null);
  expect(response.headers.get("content-security-policy")).toBeNull();
});

test.each(["/console/emails/%E0%A4%A", "/docs/%zz", "/login/%", "/a%00b"])(
  "the path %s is rejected if it cannot be decoded",
  async (address) => {
    const response = ask("GET", address);
    expect(response.status).toBe(400);
    expect((await response.json()).message).toMatch(/percent-encoded/);
    expect(isPassedOn(ask("GET", "/console?x=%zz"))).toBe(true);
  },
);

test("documents with an address outside /docs are rewritten to it", () => {
  const settings = readFileSync(path.join(app, "../next.config.ts"), "utf8");
  for (const [source, destination] of Object.entries(GUIDE_ALIASES))
    expect(settings).toContain(`{ source: "${source}", destination: "${destination}" }`);
});
