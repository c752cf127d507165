import { readSession } from "#server/auth";
import type { Cookies } from "#server/auth/cookies";
import type { ConsoleDeps } from "#server/console-deps";
import { newId } from "#server/ids";
import type { Session } from "#server/services/sessions";
import { type Visitor, visitorOf } from "#server/visitor";

export type TrpcContext = {
  deps: ConsoleDeps;
  requestId: string;
  visitor: Visitor;
  /** Who calls. One read for all procedures of a request, made when the first of them asks. */
  session(): Promise<Session | null>;
};

/** The context of one request, be it an HTTP call, which may hold several procedures, or a page being rendered. */
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
      session ??= readSession(deps, cookies);
      return session;
    },
  };
}
