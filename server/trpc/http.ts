import { fetchRequestHandler } from "@trpc/server/adapters/fetch";
import type { Cookies } from "#server/auth/cookies";
import type { ConsoleDeps } from "#server/console-deps";
import { isBodyWithin, isFromOwnPage } from "#server/own-page";
import { createTrpcContext } from "./context";
import { appRouter } from "./router";

const ENDPOINT = "/api/trpc";
const batchMax = 10;
const bodyMaxBytes = 1024 * 1024;

/**
 * Answers the console's calls over HTTP. What changes something comes by POST, as JSON, from a page of ours: a form or
 * a script of another site is refused before anything is read.
 */
export async function answerTrpc(deps: ConsoleDeps, request: Request, cookies: Cookies): Promise<Response> {
  const refusal = request.method === "POST" ? refusePost(deps, request) : null;
  if (refusal)
    return new Response(`${refusal.text}\n`, {
      status: refusal.status,
      headers: { "cache-control": "no-store" },
    });
  return fetchRequestHandler({
    endpoint: ENDPOINT,
    req: request,
    router: appRouter,
    createContext: () => createTrpcContext(deps, cookies, request.headers),
    maxBatchSize: batchMax,
    responseMeta: () => ({ headers: new Headers({ "cache-control": "no-store" }) }),
  });
}

function refusePost(deps: ConsoleDeps, request: Request): { status: number; text: string } | null {
  if (!isFromOwnPage(deps.url, request.headers))
    return { status: 403, text: "This call must come from a page of the console." };
  const type = request.headers.get("content-type")?.split(";", 1)[0]?.trim().toLowerCase();
  if (type !== "application/json") return { status: 415, text: "Send JSON." };
  if (!isBodyWithin(bodyMaxBytes, request.headers))
    return { status: 413, text: `Send at most ${bodyMaxBytes} bytes, and say how many.` };
  return null;
}
