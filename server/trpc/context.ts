import { getSession } from "#server/auth";
import type { Cookies } from "#server/auth/cookies";
import type { ConsoleDeps } from "#server/auth/deps";
import { type Visitor, visitorOf } from "#server/platform/http/visitor";
import { newId } from "#server/platform/ids";
import type { Session } from "#server/services/people/sessions";

export type TrpcContext = {
  deps: ConsoleDeps;
  requestId: string;
  visitor: Visitor;
  /** The caller's session. Read at most once per request, on first use. */
  session(): Promise<Session | null>;
};

/** The context of one request: an HTTP call, which may hold several procedures, or a page being rendered. */
export function createTrpcContext(
  deps: ConsoleDeps,
  cookies: Cookies,
  headers: Headers = new Headers(),
): TrpcContext {
  let session: Promise<Session | null> | undefined;
  return {
    deps,
    requestId: newId(),
    visitor: visitorOf(deps, headers),
    session: () => {
      session ??= getSession(deps, cookies);
      return session;
    },
  };
}
