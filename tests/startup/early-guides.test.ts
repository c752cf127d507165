import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { silentLog } from "#server/platform/log";
import { openPages } from "#server/startup/http/pages";

const folder = fileURLToPath(new URL("../..", import.meta.url));

let server: Server;
let base: string;
beforeAll(async () => {
  // Next.js starts only after this promise, so in this test it never compiles anything.
  const after = new Promise<never>(() => {});
  const pages = openPages({ isDev: true, folder, host: "127.0.0.1", port: 0, log: silentLog, after });
  server = createServer((incoming, outgoing) => void pages.request(incoming, outgoing));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

test.each([
  ["/docs", "text/html", "<h1>Guides</h1>"],
  ["/docs/install", "text/html", 'aria-current="page"'],
  ["/docs/guides.css", "text/css", ":root {"],
  ["/docs/guides.js", "text/javascript", "search.json"],
  ["/docs/search.json", "application/json", '"address":"/docs/install"'],
  ["/docs/install.md", "text/markdown", "# Install"],
  ["/docs/api", "text/html", "<h1>API reference</h1>"],
  ["/docs/api/emails", "text/html", 'id="postEmails"'],
  ["/docs/api/emails.md", "text/markdown", "`POST /api/emails`"],
  ["/llms.txt", "text/plain", "/docs/api/emails.md"],
])("in development, %s responds before Next.js has compiled", async (path, type, content) => {
  const response = await fetch(`${base}${path}`);
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toContain(type);
  expect(response.headers.get("content-security-policy")).toContain("script-src 'self'");
  expect(await response.text()).toContain(content);
  expect((await fetch(`${base}${path}`, { method: "HEAD" })).status).toBe(200);
});

test.each([
  ["GET", "/docs/api/no-page"],
  ["GET", "/docs/..%2fpackage.json"],
  ["GET", "/console"],
  ["POST", "/docs"],
])("%s %s waits for Next.js", async (method, path) => {
  const stopping = new AbortController();
  const response = fetch(`${base}${path}`, { method, signal: stopping.signal });
  // A guide that is requested later is there first.
  const first = await Promise.race([response, fetch(`${base}/docs/guides.js`)]);
  expect(first.url).toBe(`${base}/docs/guides.js`);
  stopping.abort();
  await expect(response).rejects.toThrow();
});
