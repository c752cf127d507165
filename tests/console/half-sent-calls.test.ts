import { expect, test } from "vitest";
import type { Cookies } from "#server/auth/cookies";
import { BODY_TIMEOUTS, createBodyBudget } from "#server/platform/limits/body-budget";
import { answerTrpc } from "#server/trpc/http";
import { noCookies, openConsole } from "../support/console/console";

const console = await openConsole();

/** Sends a request whose body stalls after one byte. */
async function sendHalf(procedure: string, cookies: Cookies): Promise<number> {
  const sizes = { bodyMaxBytes: 1_000_000, filesMaxBytes: 1_000_000 };
  const bodies = createBodyBudget(sizes, { ...BODY_TIMEOUTS, idleMs: 200 });
  const origin = "https://mail.example.org";
  const request = new Request(`${origin}/api/trpc/${procedure}`, {
    method: "POST",
    body: new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode("{")) }),
    headers: { origin, "content-type": "application/json", "content-length": "900000" },
    duplex: "half",
  } as RequestInit);
  return (await answerTrpc({ ...console.deps, bodies }, request, cookies)).status;
}

test("without a session a request is 401 before its body is read", async () => {
  for (const procedure of ["suppressions.add", "account.changePassword", "templates.create"])
    expect([procedure, await sendHalf(procedure, noCookies)]).toEqual([procedure, 401]);
});

test("with a session a request whose body stalls is 408", async () => {
  const { id } = await console.person();
  const cookies = await console.cookiesOf(id);
  expect(await sendHalf("account.changePassword", cookies)).toBe(408);
});
