import type { RestDeps } from "#server/deps";
import type { Identified } from "./identify";
import type { AnyAnswer } from "./route";

/** Longest path and name of a client that are kept, in characters. */
const pathCharsMax = 500;
const agentCharsMax = 300;

/**
 * Puts a call by a key on record, and one by a key that is none any more. Costs the caller nothing but the shortening of the
 * bodies: nothing is waited for, and nothing here fails.
 */
export function logCall(
  deps: RestDeps,
  request: Request,
  known: Identified | undefined,
  { status, requestBody, answer }: { status: number; requestBody: unknown; answer: AnyAnswer },
): void {
  const { key, refusedToken } = known ?? {};
  if (!key && refusedToken === undefined) return;
  // Without the query, in which a careless caller may have put anything; the address was parsed before, so there is one.
  const path = /^[a-z]+:\/\/[^/?#]*([^?#]*)/i.exec(request.url)?.[1] ?? "/";
  deps.requestLog.record({
    caller: key ? { teamId: key.teamId, apiKeyId: key.id } : { token: refusedToken ?? "" },
    method: request.method.slice(0, 20),
    path: path.slice(0, pathCharsMax),
    status,
    userAgent: request.headers.get("user-agent")?.slice(0, agentCharsMax) ?? null,
    requestBody,
    responseBody: "body" in answer ? answer.body : undefined,
  });
}
