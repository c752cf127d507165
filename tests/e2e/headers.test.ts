import { readdirSync } from "node:fs";
import path from "node:path";
import type { APIResponse, Browser, BrowserContext } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { projectRoot } from "../support/processes";
import { openBrowser, openProfile, signIn } from "./browser";
import { ADMIN, type Posthorn, startPosthorn } from "./posthorn";

/*
 * Every page and every route file below `app`, found by reading the tree, so that a new one joins by standing there. Each is
 * asked signed in and not, and with an id that nobody has: refusals and errors are pages like all others.
 */

const app = path.join(projectRoot, "app");
const filesOf = (name: string): string[] =>
  readdirSync(app, { recursive: true, encoding: "utf8" })
    .filter((file) => path.basename(file) === name)
    .map((file) => path.dirname(file));

/** An address for a folder of `app`, with an id that nobody has in each place for one. */
const addressOf = (folder: string): string =>
  `/${folder === "." ? "" : folder}`
    .replace(/\/\([^)]+\)/g, "")
    .replace("[...nextauth]", "session")
    .replace("[trpc]", "service.readiness")
    .replace("[[...path]]", "health")
    .replace(/\[[^\]]+\]/g, "01900000-0000-7000-8000-000000000000");

const pages = filesOf("page.tsx").map(addressOf);
const routes = filesOf("route.ts").map(addressOf);
const calls = routes.filter((route) => /^\/api\/(auth|trpc)\//.test(route));
const downloads = routes.filter((route) => !route.startsWith("/api/"));

let posthorn: Posthorn;
let browser: Browser;
let signedIn: BrowserContext;
let stranger: BrowserContext;

beforeAll(async () => {
  browser = await openBrowser();
  posthorn = await startPosthorn({ SMTP_URL: "capture:" });
  signedIn = (await openProfile(browser)).context;
  stranger = await browser.newContext();
  await signIn(await signedIn.newPage(), posthorn.url, ADMIN.email, ADMIN.password);
});
afterAll(async () => {
  await browser?.close();
  await posthorn?.stop();
});

const ask = (context: BrowserContext, address: string) =>
  context.request.get(posthorn.url + address, { maxRedirects: 0 });
const visitors = () => [signedIn, stranger];

function expectGuarded(answer: APIResponse): void {
  expect(answer.headers()).toMatchObject({
    "x-content-type-options": "nosniff",
    "referrer-policy": expect.stringMatching(/^(same-origin|no-referrer)$/),
    "permissions-policy": expect.stringContaining("camera=()"),
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "strict-transport-security": expect.stringMatching(/^max-age=\d{8}/),
  });
  expect(answer.headers()).not.toHaveProperty("x-powered-by");
}

const directivesOf = (answer: APIResponse): Map<string, string> =>
  new Map(
    (answer.headers()["content-security-policy"] ?? "").split(/;\s*/).map((part): [string, string] => {
      const [name = "", ...values] = part.trim().split(/\s+/);
      return [name, values.join(" ")];
    }),
  );

test("the tree has pages and routes to ask", () => {
  expect(pages.length).toBeGreaterThan(10);
  expect(downloads.length).toBeGreaterThan(3);
  expect(calls.length).toBeGreaterThan(1);
});

describe.each([...pages, "/no/such/page", "/console/no-such-page"])("the page %s", (address) => {
  test("runs scripts of ours alone, by a nonce that is new each time, and stands in no frame", async () => {
    for (const context of visitors()) {
      const nonces = new Set<string>();
      for (const answer of [await ask(context, address), await ask(context, address)]) {
        expect(answer.status()).toBeLessThan(500);
        expectGuarded(answer);
        const policy = directivesOf(answer);
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
        const html = await answer.text();
        for (const [tag] of html.matchAll(/<script\b[^>]*>/g)) expect(tag).toContain(`nonce="${nonce}"`);
      }
      expect(nonces.size).toBe(2);
    }
  });
});

describe.each(downloads.flatMap((address) => [address, `${address}/`]))("the route %s", (address) => {
  test("answers nothing that could run, whoever asks", async () => {
    for (const context of visitors()) {
      const answer = await ask(context, address);
      expect(answer.status()).not.toBe(500);
      expectGuarded(answer);
      expectSandboxed(answer);
    }
  });
});

test("what a stranger wrote comes as a document or a file that can do nothing, whichever address it is asked by", async () => {
  const html = "<script>top.document.title = 'run'</script>";
  const filename = "hostile.html";
  const emailId = await posthorn.send({
    to: "delivered@posthorn.test",
    subject: "Hostile",
    html,
    attachments: [{ filename, content: Buffer.from(html).toString("base64") }],
  });
  const made = await posthorn.operate(
    ...["key", "create", "--name", "Whole", "--scopes", "full_access", "--json"],
  );
  const { token } = JSON.parse(made);
  const template = await posthorn.api(
    "POST",
    "/templates",
    { name: "Hostile", subject: "Hello", html },
    token,
  );
  const [file] = (await posthorn.api("GET", `/emails/${emailId}/attachments`)).data;
  const page = await signedIn.newPage();
  await page.goto(`${posthorn.url}/console/emails/${emailId}`);
  const team = new URL(
    (await page.locator("iframe").getAttribute("src")) ?? "",
    posthorn.url,
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
      const answer = await ask(signedIn, `${path}${slash}?team=${team}`);
      expect(answer.status(), path + slash).toBe(200);
      expectGuarded(answer);
      expectSandboxed(answer);
      if (!path.endsWith("/body"))
        expect(answer.headers()["content-disposition"], path).toMatch(/^attachment;/);
    }
});

/** What it answers gets no origin, runs no script and loads nothing by itself, also where somebody opens it as a page. */
function expectSandboxed(answer: APIResponse): void {
  const policy = directivesOf(answer);
  expect(policy.get("sandbox"), answer.url()).toBe("");
  expect(policy.get("default-src")).toBe("'none'");
  expect(policy.has("script-src")).toBe(false);
}

describe.each(calls)("the console's call %s", (address) => {
  test("answers data, which no browser shows or keeps", async () => {
    for (const context of visitors()) {
      const answer = await ask(context, address);
      expect(answer.status()).not.toBe(500);
      expectGuarded(answer);
      expect(directivesOf(answer).get("default-src")).toBe("'none'");
      expect(answer.headers()["cache-control"]).toMatch(/no-store/);
    }
  });
});

test("the API answers no document either", async () => {
  for (const address of ["/api/health", "/api/emails", "/api/nothing", "/api"]) {
    const answer = await ask(stranger, address);
    expect(answer.headers()).toMatchObject({
      "x-content-type-options": "nosniff",
      "cache-control": expect.stringContaining("no-store"),
      "content-type": expect.stringContaining("application/json"),
    });
  }
});

test("whoever asks for the icon by its usual name gets it", async () => {
  const answer = await ask(stranger, "/favicon.ico");
  expect(answer.status()).toBe(200);
  expect(answer.headers()["content-type"]).toContain("image/svg+xml");
});
