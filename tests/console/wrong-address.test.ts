import { createTRPCClient, httpBatchLink } from "@trpc/client";
import { afterEach, describe, expect, test, vi } from "vitest";
import { formatForeignOrigin, isFromOwnPage } from "#server/platform/http/own-page";
import { answerTrpc } from "#server/trpc/http";
import type { AppRouter } from "#server/trpc/router";
import { answerImport } from "#server/trpc/suppressions/files";
import { signInWithProvider, signOut, submitProof } from "../../app/auth-client";
import { faultOf } from "../../app/console/_ui/fault";
import { cookiesOf, noCookies, openConsole, PASSWORD } from "../support/console/console";
import { openVisitor } from "../support/console/sign-in-visitor";

/*
 * The public URL is configured differently from the URL that the browser opens: pages load, and every
 * mutation is rejected. The error must name both URLs.
 */

const opened = "http://192.0.2.7:3000";
const ERROR_MESSAGE = `This page was opened at ${opened}, but Backstamp's URL is https://mail.example.org. Open that URL, or change BACKSTAMP_URL.`;

const console = await openConsole();
afterEach(() => void vi.unstubAllGlobals());

/** The browser's fetch, as a page at that URL would call it. */
function openPageElsewhere() {
  const visitor = openVisitor(console.deps);
  vi.stubGlobal("window", { location: new URL(opened) });
  vi.stubGlobal("fetch", async (path: string, init?: { body: URLSearchParams }) => {
    const action = path.replace("/api/auth/", "");
    return init
      ? visitor.post(action, Object.fromEntries(init.body), { origin: opened })
      : visitor.get(action);
  });
}

describe("a page opened at a URL other than BACKSTAMP_URL shows an error", () => {
  test("at every sign-in method and at sign-out", async () => {
    openPageElsewhere();
    const { email } = await console.person();
    expect(await submitProof("credentials", { email, password: PASSWORD }, "/console")).toEqual({
      fault: "unavailable",
      message: ERROR_MESSAGE,
    });
    expect(await signOut()).toBe(ERROR_MESSAGE);
    console.deps.providers = { github: { id: "id", secret: "secret", issuer: opened, api: opened } };
    expect(await signInWithProvider("github", "/console")).toBe(ERROR_MESSAGE);
  });

  test("at the request for a link", async () => {
    const visitor = openVisitor(console.deps);
    const input = { kind: "sign_in_link", email: "ann@example.org", landing: "/console" };
    expect(await visitor.postJson("link/request", input, { origin: opened })).toMatchObject({
      status: 403,
      reply: { error: ERROR_MESSAGE },
    });
  });

  test("at every mutation, alone and in a batch", async () => {
    const client = createTRPCClient<AppRouter>({
      links: [
        httpBatchLink({
          url: `${opened}/api/trpc`,
          fetch: (url, init) => {
            const request = new Request(url, {
              method: init?.method ?? "GET",
              headers: { ...(init?.headers as Record<string, string>), origin: opened },
              ...(init?.body ? { body: String(init.body) } : {}),
            });
            return answerTrpc(console.deps, request, noCookies);
          },
        }),
      ],
    });
    const result = await Promise.allSettled([
      client.account.endOtherSessions.mutate(),
      client.account.endOtherSessions.mutate(),
    ]);
    for (const each of result)
      expect(faultOf(each.status === "rejected" && each.reason)).toEqual({
        message: ERROR_MESSAGE,
        code: "FORBIDDEN",
        requestId: null,
      });
  });
});

test("a host that only the request names is foreign, even if the origin matches it", async () => {
  const headers = { host: "evil.example", origin: "https://evil.example" };
  const input = { kind: "sign_in_link", email: "ann@example.org", landing: "/console" };
  expect((await openVisitor(console.deps).postJson("link/request", input, headers)).status).toBe(403);
  const init = { method: "POST", body: "{}", headers: { ...headers, "content-type": "application/json" } };
  expect((await console.call("account.endOtherSessions", init)).status).toBe(403);
  const { id } = await console.session((await console.person({ role: "owner" })).id);
  const file = new Request("https://evil.example/", {
    ...init,
    headers: { ...headers, "content-type": "text/csv" },
  });
  const { teamId } = console.world.ctx;
  expect((await answerImport(console.deps, file, await cookiesOf(id), teamId)).status).toBe(403);
});

test("for a local public URL all loopback names are equivalent, but only on the same port and scheme", () => {
  const isOurs = (url: string, origin: string) =>
    isFromOwnPage(url, new Headers({ origin, host: new URL(origin).host }));
  for (const url of ["http://localhost:3000", "http://127.0.0.1:3000", "http://[::1]:3000"]) {
    for (const name of ["localhost", "127.0.0.1", "[::1]"])
      expect(isOurs(url, `http://${name}:3000`), `${url} ${name}`).toBe(true);
    for (const origin of [
      "http://localhost:3001",
      "https://localhost:3000",
      "http://localhost.evil.example:3000",
      "http://127.0.0.1.nip.io:3000",
      "http://192.0.2.7:3000",
    ])
      expect(isOurs(url, origin), `${url} ${origin}`).toBe(false);
  }
  expect(isOurs("https://mail.example.org", "https://localhost")).toBe(false);
});

test("the error contains neither invalid nor overlong addresses", () => {
  for (const origin of [
    "null",
    "x",
    "javascript:alert(1)",
    `https://${"a".repeat(300)}.example`,
    "https://a b",
  ])
    expect(formatForeignOrigin("https://mail.example.org", new Headers({ origin })), origin).toBe(
      "This request must come from a Backstamp page at https://mail.example.org.",
    );
  expect(
    formatForeignOrigin("https://mail.example.org", new Headers({ origin: "https://evil.example/<b>?x" })),
  ).toContain("opened at https://evil.example, but");
});
