import { TRPCError } from "@trpc/server";
import { getHTTPStatusCodeFromError } from "@trpc/server/http";
import { z } from "zod";
import type { Cookies } from "#server/auth/cookies";
import type { ConsoleDeps } from "#server/auth/deps";
import type { Ctx } from "#server/deps";
import { AppError } from "#server/platform/errors";
import { streamOf } from "#server/platform/http/stream";
import { errorFacts } from "#server/platform/log";
import type { Permission } from "#server/shared/roles";
import { createTrpcContext } from "./context";
import { toTrpcError } from "./faults";
import { enterTeam } from "./init";
import { rejectUnstorableText } from "./unstorable-text";

/** A call that uploads or downloads a file, which a procedure cannot do. */
export type TeamCall = { cookies: Cookies; team: string; permission: Permission };

/**
 * Handles a console call that carries a file: session, team and permission are checked as in every procedure.
 * An error is returned as JSON, `{ error: { message, data: { code, requestId } } }`.
 */
export async function handleTeamFile(
  deps: ConsoleDeps,
  { cookies, team, permission }: TeamCall,
  answer: (ctx: Ctx) => Promise<Response>,
): Promise<Response> {
  const context = createTrpcContext(deps, cookies);
  try {
    const session = await context.session();
    if (!session)
      throw new TRPCError({ code: "UNAUTHORIZED", message: "Your session has expired. Sign in again." });
    return await answer(enterTeam(context, session, team, permission).service);
  } catch (error) {
    return errorResponse(deps, error, context.requestId);
  }
}

/** The response if a file cannot be returned. */
export async function errorResponse(deps: ConsoleDeps, error: unknown, requestId: string): Promise<Response> {
  const known = await toTrpcError(
    error instanceof TRPCError ? error : new TRPCError({ code: "INTERNAL_SERVER_ERROR", cause: error }),
    deps,
    requestId,
  );
  const body = { error: { message: known.message, data: { code: known.code, requestId } } };
  return Response.json(body, { status: getHTTPStatusCodeFromError(known), headers: FILE_HEADERS });
}

/** Not cached by proxies, and inert if a browser opens it as a page. */
export const FILE_HEADERS = {
  "content-security-policy": "sandbox; default-src 'none'; frame-ancestors 'none'",
  "cache-control": "private, no-store",
  "x-content-type-options": "nosniff",
} as const;

/** The filters of a list page, in the query of a call for a file. */
export function readFilters<Filters extends z.ZodRawShape>(filters: Filters, query: Record<string, string>) {
  rejectUnstorableText(query);
  const read = z.strictObject(filters).safeParse(query);
  if (!read.success) throw new AppError("invalid", `Invalid filter: ${read.error.issues[0]?.path.join(".")}`);
  return read.data;
}

/** A download that is streamed as fast as the client reads. */
export function fileResponse(
  deps: ConsoleDeps,
  parts: AsyncIterable<string | Uint8Array>,
  { filename, contentType }: { filename: string; contentType: string },
): Response {
  const onFault = (error: unknown) => deps.log.error("console.file_broke_off", errorFacts(error));
  return new Response(streamOf(parts, onFault), {
    headers: {
      ...FILE_HEADERS,
      "content-type": contentType,
      "content-disposition": `attachment; filename="${filename}"`,
    },
  });
}
