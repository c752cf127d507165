import { TRPCError } from "@trpc/server";
import { getHTTPStatusCodeFromError } from "@trpc/server/http";
import type { Cookies } from "#server/auth/cookies";
import type { ConsoleDeps } from "#server/console-deps";
import type { Ctx } from "#server/deps";
import { errorFacts } from "#server/log";
import type { Right } from "#server/roles";
import { streamOf } from "#server/stream";
import { createTrpcContext } from "./context";
import { toTrpcError } from "./faults";
import { enterTeam } from "./init";

/** Who wants to do what, where no procedure can: a file that comes or goes. */
export type TeamCall = { cookies: Cookies; team: string; right: Right };

/**
 * Answers a call of the console that carries a file: the session, the team and the right are asked for like in every
 * procedure, and a refusal says the same, as JSON `{ error: { message, data: { code, requestId } } }`.
 */
export async function inTeamDoor(
  deps: ConsoleDeps,
  { cookies, team, right }: TeamCall,
  answer: (ctx: Ctx) => Promise<Response>,
): Promise<Response> {
  const context = createTrpcContext(deps, cookies);
  try {
    const session = await context.session();
    if (!session)
      throw new TRPCError({ code: "UNAUTHORIZED", message: "Sign in again: your session is over." });
    return await answer(enterTeam(context, session, team, right).service);
  } catch (error) {
    return refusal(deps, error, context.requestId);
  }
}

/** What a file's answer says instead of the file. */
export function refusal(deps: ConsoleDeps, error: unknown, requestId: string): Response {
  const known = toTrpcError(
    error instanceof TRPCError ? error : new TRPCError({ code: "INTERNAL_SERVER_ERROR", cause: error }),
    deps.log,
    requestId,
  );
  const body = { error: { message: known.message, data: { code: known.code, requestId } } };
  return Response.json(body, { status: getHTTPStatusCodeFromError(known), headers: FILE_HEADERS });
}

/** Nobody keeps a copy on the way, and nobody takes it for a page: what is opened as one can do nothing. */
export const FILE_HEADERS = {
  "content-security-policy": "sandbox; default-src 'none'; frame-ancestors 'none'",
  "cache-control": "private, no-store",
  "x-content-type-options": "nosniff",
} as const;

/** A download that is read only as fast as it is taken. */
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
