import { z } from "zod";
import { AppError } from "#server/platform/errors";
import { resolveRedirectPath } from "#server/platform/http/own-path";
import type { Visitor } from "#server/platform/http/visitor";
import { errorFacts } from "#server/platform/log";
import { setUpFirstUser } from "#server/services/account/first-user";
import { startPasskeyAutofill, startPasskeySignIn } from "#server/services/account/passkeys/sign-in";
import {
  getSignInLink,
  requestSignInLink,
  resetPassword,
} from "#server/services/account/sign-in/sign-in-by-email";
import type { ConsoleDeps } from "./deps";
import type { Visit } from "./visit";

/** The HTTP status and JSON body of a response. */
type Result = { status: number; body: object };
type Call = (deps: ConsoleDeps, visit: Visit, body: unknown) => Promise<Result>;

const email = z.string().max(320);
const token = z.string().max(100);
const password = z.string().max(1_000);
const kind = z.enum(["sign_in_link", "password_reset"]);

const BAD_INPUT: Result = { status: 422, body: { error: "This page is out of date. Reload it." } };
const TOO_MANY: Result = {
  status: 429,
  body: { error: "Too many attempts. Wait a minute, then try again." },
};
const EXPIRED: Result = {
  status: 410,
  body: { error: "This link or code is not valid. It was already used, has expired or is incomplete." },
};

function call<S extends z.ZodType>(
  schema: S,
  run: (deps: ConsoleDeps, input: z.infer<S>, visitor: Visitor) => Promise<Result>,
): Call {
  return async (deps, { visitor }, body) => {
    const read = schema.safeParse(body);
    return read.success ? run(deps, read.data, visitor) : BAD_INPUT;
  };
}

/** Our own actions for visitors who are not signed in. They accept JSON, from our own pages only. */
const CALLS: Record<string, Call> = {
  "POST link/request": call(
    z.strictObject({ kind, email, landing: z.string().max(2_000) }),
    async (deps, input, visitor) => {
      const result = await requestSignInLink(deps, {
        ...input,
        landing: resolveRedirectPath(input.landing, deps.url),
        visitor,
      });
      switch (result.kind) {
        case "requested":
          return { status: 202, body: {} };
        case "invalid":
          return { status: 422, body: { error: "Enter one email address, such as you@example.com." } };
        case "email_not_configured":
          return { status: 404, body: { error: `System email is not available. ${result.reason}` } };
        case "too_many_attempts":
          return TOO_MANY;
      }
    },
  ),
  "POST link/read": call(z.strictObject({ kind, token }), async (deps, input, visitor) => {
    const link = await getSignInLink(deps, { ...input, visitor });
    if (link.kind === "valid") return { status: 200, body: { email: link.email } };
    return link.kind === "expired" ? EXPIRED : TOO_MANY;
  }),
  "POST password/reset": call(z.strictObject({ token, password }), async (deps, input, visitor) => {
    const reset = await resetPassword(deps, { ...input, visitor });
    if (reset.kind === "reset") return { status: 200, body: { email: reset.email } };
    return reset.kind === "expired" ? EXPIRED : TOO_MANY;
  }),
  "POST first-user": call(z.strictObject({ code: token, email, password }), async (deps, input, visitor) => {
    const result = await setUpFirstUser(deps, { ...input, visitor });
    if (result.kind === "created") return { status: 201, body: { email: result.user.email } };
    return result.kind === "expired" ? EXPIRED : TOO_MANY;
  }),
  /** The WebAuthn options for a sign-in with a passkey. It has no body. */
  "POST passkey/options": async (deps, visit) => ({
    status: 200,
    body: await startPasskeySignIn(deps, visit),
  }),
  /** The WebAuthn options for passkeys in the autofill list. It has no body. */
  "POST passkey/autofill": async (deps, { visitor }) => ({
    status: 200,
    body: await startPasskeyAutofill(deps, visitor),
  }),
};

export const isOwnCall = (action: string): boolean => Object.hasOwn(CALLS, action);

/** Handles one of these actions. Input errors are returned to the page; internal errors are only logged. */
export async function handleOwnCall(
  deps: ConsoleDeps,
  request: Request,
  action: string,
  visit: Visit,
): Promise<Response> {
  const result = await runCall(deps, request, action, visit);
  return Response.json(result.body, {
    status: result.status,
    headers: { "cache-control": "no-store", ...(result === TOO_MANY ? { "retry-after": "60" } : {}) },
  });
}

async function runCall(deps: ConsoleDeps, request: Request, action: string, visit: Visit): Promise<Result> {
  const body = await request.json().catch(() => undefined);
  try {
    return (await CALLS[action]?.(deps, visit, body)) ?? BAD_INPUT;
  } catch (error) {
    if (error instanceof AppError) return { status: error.status, body: { error: error.message } };
    deps.log.error("sign_in.failed", errorFacts(error));
    return { status: 503, body: { error: "Sign-in is temporarily unavailable. Try again in a moment." } };
  }
}
