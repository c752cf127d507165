import { TRPCError } from "@trpc/server";
import { fetchRequestHandler } from "@trpc/server/adapters/fetch";
import { getHTTPStatusCodeFromError } from "@trpc/server/http";
import { TRPC_ERROR_CODES_BY_KEY } from "@trpc/server/rpc";
import type { Cookies } from "#server/auth/cookies";
import type { ConsoleDeps } from "#server/console-deps";
import { isBodyWithin, isFromOwnPage, sayForeign } from "#server/own-page";
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
  if (refusal) return refuse(refusal);
  return fetchRequestHandler({
    endpoint: ENDPOINT,
    req: request,
    router: appRouter,
    createContext: () => createTrpcContext(deps, cookies, request.headers),
    maxBatchSize: batchMax,
    responseMeta: () => ({ headers: new Headers({ "cache-control": "no-store" }) }),
  });
}

function refusePost(deps: ConsoleDeps, { headers }: Request): TRPCError | null {
  if (!isFromOwnPage(deps.url, headers))
    return new TRPCError({ code: "FORBIDDEN", message: sayForeign(deps.url, headers) });
  const type = headers.get("content-type")?.split(";", 1)[0]?.trim().toLowerCase();
  if (type !== "application/json")
    return new TRPCError({ code: "UNSUPPORTED_MEDIA_TYPE", message: "Send JSON." });
  if (!isBodyWithin(bodyMaxBytes, headers)) {
    const message = `Send at most ${bodyMaxBytes} bytes, and say how many.`;
    return new TRPCError({ code: "PAYLOAD_TOO_LARGE", message });
  }
  return null;
}

/** As tRPC writes its errors, so that its client tells the sentence; one answer stands for a whole batch. */
function refuse(refusal: TRPCError): Response {
  const { code, message } = refusal;
  const httpStatus = getHTTPStatusCodeFromError(refusal);
  const error = { code: TRPC_ERROR_CODES_BY_KEY[code], message, data: { code, httpStatus } };
  return Response.json({ error }, { status: httpStatus, headers: { "cache-control": "no-store" } });
}
