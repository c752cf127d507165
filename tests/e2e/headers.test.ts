import type { APIResponse, BrowserContext } from "playwright-core";
import { describe, expect, test } from "vitest";
import { pathsOf } from "./app-paths";
import { openSignedIn } from "./backstamp";

/*
 * Tests every page and route file below `app`. They are found in the file tree, so new ones are included
 * automatically. Each is requested with and without a session and with an unknown id, because error pages
 * must be protected too.
 */

const pages = pathsOf("page.tsx");
const routes = pathsOf("route.ts");
const calls = routes.filter((route) => /^\/api\/(auth|trpc)\//.test(route));
const downloads = routes.filter((route) => !/^\/(api|docs)\//.test(route));
const guides = [
  "/docs",
  "/docs/",
  "/docs/install",
  "/docs/guides.js",
  "/docs/search.json",
  "/docs/api",
  "/docs/api/emails",
  "/docs/api/emails.md",
  "/llms.txt",
  "/docs.md",
];

const { backstamp, browser, profile } = await openSignedIn({ SMTP_URL: "capture:" });
const signedIn = profile.context;
const stranger = await browser.newContext();

const get = (context: BrowserContext, address: string) =>
  context.request.get(backstamp.url + address, { maxRedirects: 0 });
const visitors = () => [signedIn, stranger];

function expectGuarded(response: APIResponse): void {
  expect(response.headers()).toMatchObject({
    "x-content-type-options": "nosniff",
    "referrer-policy": expect.stringMatching(/^(same-origin|no-referrer)$/),
    "permissions-policy": expect.stringContaining("camera=()"),
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "strict-transport-security": expect.stringMatching(/^max-age=\d{8}/),
  });
  expect(response.headers()).not.toHaveProperty("x-powered-by");
}

const directivesOf = (response: APIResponse): Map<string, string> =>
  new Map(
    (response.headers()["content-security-policy"] ?? "").split(/;\s*/).map((part): [string, string] => {
      const [name = "", ...values] = part.trim().split(/\s+/);
      return [name, values.join(" ")];
    }),
  );

test("the file tree contains pages and routes", () => {
  expect(pages.length).toBeGreaterThan(10);
  expect(downloads.length).toBeGreaterThan(3);
  expect(calls.length).toBeGreaterThan(1);
});

describe.each([...pages, "/no/such/page", "/console/no-such-page"])("the page %s", (address) => {
  test("runs only our scripts, by a new nonce per response, and cannot be framed", async () => {
    for (const context of visitors()) {
      const nonces = new Set<string>();
      for (const response of [await get(context, address), await get(context, address)]) {
        expect(response.status()).toBeLessThan(500);
        expectGuarded(response);
        const policy = directivesOf(response);
        const [, nonce = ""] = /'nonce-([A-Za-z0-9+/=]{20,})'/.exec(policy.get("script-src") ?? "") ?? [];
        expect(policy.get("script-src")).toBe(`'self' 'nonce-${nonce}' 'strict-dynamic'`);
        nonces.add(nonce);
        expect(Object.fromEntries(policy)).toMatchObject({
          "default-src": "'self'",
          "style-src": "'self' 'unsafe-inline'",
          "connect-src": "'self'",
          "frame-src": "'self'",
          "object-src": "'none'",
          "base-uri": "'none'",
          "form-action": "'self'",
          "frame-ancestors": "'none'",
        });
        const html = await response.text();
        for (const [tag] of html.matchAll(/<script\b[^>]*>/g)) expect(tag).toContain(`nonce="${nonce}"`);
      }
      expect(nonces.size).toBe(2);
    }
  });
});

describe.each(downloads.flatMap((address) => [address, `${address}/`]))("the route %s", (address) => {
  test("responds with nothing executable, with or without a session", async () => {
    for (const context of visitors()) {
      const response = await get(context, address);
      expect(response.status()).not.toBe(500);
      expectGuarded(response);
      expectSandboxed(response);
    }
  });
});

test.each(guides)("the guides at %s run no script but those in files of this host", async (address) => {
  for (const context of visitors()) {
    const response = await get(context, address);
    expect(response.status()).toBeLessThan(400);
    expectGuarded(response);
    if (response.status() < 300)
      expect(Object.fromEntries(directivesOf(response))).toMatchObject({
        "default-src": "'none'",
        "script-src": "'self'",
        "style-src": "'self'",
      });
  }
});

test("untrusted content is served as a sandboxed document or a download, with or without a trailing slash", async () => {
  const html = "<script>top.document.title = 'run'</script>";
  const filename = "hostile.html";
  const emailId = await backstamp.send({
    to: "delivered@backstamp.test",
    subject: "Hostile",
    html,
    attachments: [{ filename, content: Buffer.from(html).toString("base64") }],
  });
  const token = await backstamp.createKey();
  const template = await backstamp.api(
    "POST",
    "/templates",
    { name: "Hostile", subject: "Hello", html },
    token,
  );
  const [file] = (await backstamp.api("GET", `/emails/${emailId}/attachments`)).data;
  const page = await signedIn.newPage();
  await page.goto(`${backstamp.url}/console/emails/${emailId}`);
  const team = new URL(
    (await page.locator("iframe").getAttribute("src")) ?? "",
    backstamp.url,
  ).searchParams.get("team");
  await page.close();
  for (const path of [
    `/console/emails/${emailId}/body`,
    `/console/emails/${emailId}/source`,
    `/console/emails/${emailId}/files/${file.id}`,
    `/console/templates/${template.id}/body`,
    "/console/emails/export",
    "/console/suppressions/export",
    "/console/activity/changes-file",
    "/console/activity/requests-file",
  ])
    for (const slash of ["", "/"]) {
      const response = await get(signedIn, `${path}${slash}?team=${team}`);
      expect(response.status(), path + slash).toBe(200);
      expectGuarded(response);
      expectSandboxed(response);
      if (!path.endsWith("/body"))
        expect(response.headers()["content-disposition"], path).toMatch(/^attachment;/);
    }
});

/**
 * Expects a response with an opaque origin that cannot run scripts or load anything, even when opened as a
 * page.
 */
function expectSandboxed(response: APIResponse): void {
  const policy = directivesOf(response);
  expect(policy.get("sandbox"), response.url()).toBe("");
  expect(policy.get("default-src")).toBe("'none'");
  expect(policy.has("script-src")).toBe(false);
}

describe.each(calls)("the console call %s", (address) => {
  test("responds with data that browsers neither render nor store", async () => {
    for (const context of visitors()) {
      const response = await get(context, address);
      expect(response.status()).not.toBe(500);
      expectGuarded(response);
      expect(directivesOf(response).get("default-src")).toBe("'none'");
      expect(response.headers()["cache-control"]).toMatch(/no-store/);
    }
  });
});

test("the API never responds with a document", async () => {
  for (const address of ["/api/health", "/api/emails", "/api/nothing", "/api"]) {
    const response = await get(stranger, address);
    expect(response.headers()).toMatchObject({
      "x-content-type-options": "nosniff",
      "cache-control": expect.stringContaining("no-store"),
      "content-type": expect.stringContaining("application/json"),
    });
  }
});

test("/favicon.ico returns the icon", async () => {
  const response = await get(stranger, "/favicon.ico");
  expect(response.status()).toBe(200);
  expect(response.headers()["content-type"]).toContain("image/svg+xml");
});
