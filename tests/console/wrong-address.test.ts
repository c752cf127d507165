import { createTRPCClient, httpBatchLink } from "@trpc/client";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { sayForeign } from "#server/own-page";
import { answerTrpc } from "#server/trpc/http";
import type { AppRouter } from "#server/trpc/router";
import { prove, signInElsewhere, signOut } from "../../app/auth-client";
import { faultOf } from "../../app/console/_ui/fault";
import { type Console, noCookies, openConsole, PASSWORD } from "../support/console";
import { openVisitor } from "../support/sign-in-visitor";

/*
 * Posthorn's public address is set to another than the one that a browser opens: the pages come, and every act is refused. What
 * the person reads must name both addresses.
 */

const opened = "http://192.0.2.7:3000";
const SENTENCE = `This page was opened at ${opened}; Posthorn's address is https://mail.example.org. Open it there, or set POSTHORN_URL.`;

let console: Console;
beforeAll(async () => {
  console = await openConsole();
});
afterAll(() => console.close());
afterEach(() => void vi.unstubAllGlobals());

/** The browser's own fetch, as a page at that address would have it. */
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

describe("a page that is opened elsewhere than POSTHORN_URL says tells so", () => {
  test("where somebody signs in, by whatever way, or out", async () => {
    openPageElsewhere();
    const { email } = await console.person();
    expect(await prove("credentials", { email, password: PASSWORD }, "/console")).toEqual({
      fault: "unavailable",
      said: SENTENCE,
    });
    expect(await signOut()).toBe(SENTENCE);
    console.deps.providers = { github: { id: "id", secret: "secret", issuer: opened, api: opened } };
    expect(await signInElsewhere("github", "/console")).toBe(SENTENCE);
  });

  test("where a link is asked for", async () => {
    const visitor = openVisitor(console.deps);
    const input = { kind: "sign_in_link", email: "ann@example.org", landing: "/console" };
    expect(await visitor.tell("link/ask", input, { origin: opened })).toMatchObject({
      status: 403,
      told: { error: SENTENCE },
    });
  });

  test("at every act of the console, alone and in a batch", async () => {
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
    const heard = await Promise.allSettled([
      client.account.endOtherSessions.mutate(),
      client.account.endOtherSessions.mutate(),
    ]);
    for (const each of heard)
      expect(faultOf(each.status === "rejected" && each.reason)).toEqual({
        message: SENTENCE,
        code: "FORBIDDEN",
        requestId: null,
      });
  });
});

test("a refusal names no address that is none, and none that is long", () => {
  for (const origin of [
    "null",
    "x",
    "javascript:alert(1)",
    `https://${"a".repeat(300)}.example`,
    "https://a b",
  ])
    expect(sayForeign("https://mail.example.org", new Headers({ origin })), origin).toBe(
      "This call must come from a page of Posthorn, at https://mail.example.org.",
    );
  expect(
    sayForeign("https://mail.example.org", new Headers({ origin: "https://evil.example/<b>?x" })),
  ).toContain("opened at https://evil.example;");
});
