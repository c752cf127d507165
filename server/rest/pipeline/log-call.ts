import type { RestDeps } from "#server/deps";
import type { Rejection } from "#server/platform/errors";
import type { Identified } from "./identify";
import type { HandlerResult } from "./route";

/** Stored length of the path and of the user agent, in characters. */
const pathCharsMax = 500;
const agentCharsMax = 300;

/**
 * Records a call with a valid key, or with a token that was rejected. The only cost for the caller is shortening the bodies:
 * the record is written later, and a failure of the write does not affect the call.
 */
export function logCall(
  deps: RestDeps,
  request: Request,
  known: Identified | undefined,
  call: { status: number; requestBody: unknown; result: HandlerResult; rejection: Rejection | null },
): void {
  const { status, requestBody, result, rejection } = call;
  const { key, rejectedToken } = known ?? {};
  if (!key && rejectedToken === undefined) return;
  // Without the query, because callers may put secrets in it. The URL was parsed before, so a path exists.
  const path = /^[a-z]+:\/\/[^/?#]*([^?#]*)/i.exec(request.url)?.[1] ?? "/";
  deps.requestLog.record({
    caller: key ? { teamId: key.teamId, apiKeyId: key.id } : { token: rejectedToken ?? "" },
    method: request.method.slice(0, 20),
    path: path.slice(0, pathCharsMax),
    status,
    userAgent: request.headers.get("user-agent")?.slice(0, agentCharsMax) ?? null,
    requestBody,
    responseBody: "body" in result ? result.body : undefined,
    rejection,
  });
}
