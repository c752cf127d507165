import { Readable } from "node:stream";
import { TRPCError } from "@trpc/server";
import { fetchRequestHandler } from "@trpc/server/adapters/fetch";
import { getHTTPStatusCodeFromError } from "@trpc/server/http";
import { TRPC_ERROR_CODES_BY_KEY } from "@trpc/server/rpc";
import type { Cookies } from "#server/auth/cookies";
import type { ConsoleDeps } from "#server/auth/deps";
import { formatForeignOrigin, isBodyWithin, isFromOwnPage } from "#server/platform/http/own-page";
import { visitorOf } from "#server/platform/http/visitor";
import type { BodyReservation } from "#server/platform/limits/body-budget";
import { bodyParts } from "#server/platform/limits/body-parts";
import { createTrpcContext } from "./context";
import { appRouter } from "./router";

const ENDPOINT = "/api/trpc";
const batchMax = 10;
const bodyMaxBytes = 1024 * 1024;

/**
 * Handles the console's calls over HTTP. Mutations must be POST requests with JSON from our own pages: a form
 * or script of another site is rejected before the body is read.
 */
export async function answerTrpc(deps: ConsoleDeps, request: Request, cookies: Cookies): Promise<Response> {
  const rejection = rejectCall(deps, request);
  if (rejection) return rejectionResponse(rejection);
  const claim = deps.bodies.open(`address:${visitorOf(deps, request.headers).address}`);
  try {
    return await answerCounted(deps, request, cookies, claim);
  } finally {
    claim.release();
  }
}

/** The body is read when a procedure needs it, and counted against the limit of the client's address. */
function answerCounted(
  deps: ConsoleDeps,
  request: Request,
  cookies: Cookies,
  claim: BodyReservation,
): Promise<Response> {
  const { url, method, headers, body, signal } = request;
  const counted = body && {
    body: Readable.toWeb(Readable.from(bodyParts(body, claim))) as ReadableStream,
    duplex: "half",
  };
  return fetchRequestHandler({
    endpoint: ENDPOINT,
    req: new Request(url, { method, headers, signal, ...counted }),
    router: appRouter,
    createContext: () => createTrpcContext(deps, cookies, request.headers),
    maxBatchSize: batchMax,
    responseMeta: () => ({ headers: new Headers({ "cache-control": "no-store" }) }),
  });
}

function rejectCall(deps: ConsoleDeps, { method, headers }: Request): TRPCError | null {
  if (method === "GET" || method === "HEAD") return null;
  if (method !== "POST")
    return new TRPCError({ code: "METHOD_NOT_SUPPORTED", message: `Use GET or POST, not ${method}.` });
  if (!isFromOwnPage(deps.url, headers))
    return new TRPCError({ code: "FORBIDDEN", message: formatForeignOrigin(deps.url, headers) });
  const type = headers.get("content-type")?.split(";", 1)[0]?.trim().toLowerCase();
  if (type !== "application/json")
    return new TRPCError({
      code: "UNSUPPORTED_MEDIA_TYPE",
      message: "Send the body as JSON, with `content-type: application/json`.",
    });
  if (!isBodyWithin(bodyMaxBytes, headers)) {
    const message = `Send at most ${bodyMaxBytes} bytes, with a content-length header.`;
    return new TRPCError({ code: "PAYLOAD_TOO_LARGE", message });
  }
  return null;
}

/** Formats an error like tRPC, so that its client can show the message; one response covers a whole batch. */
function rejectionResponse(rejection: TRPCError): Response {
  const { code, message } = rejection;
  const httpStatus = getHTTPStatusCodeFromError(rejection);
  const error = { code: TRPC_ERROR_CODES_BY_KEY[code], message, data: { code, httpStatus } };
  const headers = { "cache-control": "no-store", ...(httpStatus === 405 ? { allow: "GET, POST" } : {}) };
  return Response.json({ error }, { status: httpStatus, headers });
}
