import { z } from "zod";
import type { ConsoleDeps } from "#server/console-deps";
import { AppError } from "#server/errors";
import { errorFacts } from "#server/log";
import { ownPath } from "#server/own-path";
import { setUpFirstUser } from "#server/services/first-user";
import { askForLink, lookAtLink, resetPassword } from "#server/services/sign-in-by-mail";
import type { Visitor } from "#server/visitor";

/** What a call comes to: a status and what the page is told. */
type Told = { status: number; body: Record<string, string> };
type Call = (deps: ConsoleDeps, visitor: Visitor, body: unknown) => Promise<Told>;

const email = z.string().max(320);
const token = z.string().max(100);
const password = z.string().max(1_000);
const kind = z.enum(["sign_in_link", "password_reset"]);

const BAD_INPUT: Told = { status: 422, body: { error: "This page is out of date. Load it again." } };
const TOO_MANY: Told = { status: 429, body: { error: "Too many tries. Wait a minute and try again." } };
const OVER: Told = {
  status: 410,
  body: { error: "This opens nothing: it was used already, is too old, or is not whole." },
};

function call<S extends z.ZodType>(
  schema: S,
  run: (deps: ConsoleDeps, input: z.infer<S>, visitor: Visitor) => Promise<Told>,
): Call {
  return async (deps, visitor, body) => {
    const read = schema.safeParse(body);
    return read.success ? run(deps, read.data, visitor) : BAD_INPUT;
  };
}

/** What whoever is not signed in may ask for beside next-auth's own: by JSON, and from a page of ours. */
const CALLS: Record<string, Call> = {
  "POST link/ask": call(
    z.strictObject({ kind, email, landing: z.string().max(2_000) }),
    async (deps, input, visitor) => {
      const asked = await askForLink(deps, { ...input, landing: ownPath(input.landing, deps.url), visitor });
      switch (asked.kind) {
        case "asked":
          return { status: 202, body: {} };
        case "invalid":
          return { status: 422, body: { error: "Give one email address, for example you@example.com." } };
        case "not_sent_here":
          return { status: 404, body: { error: "This installation sends no mail of its own." } };
        case "too_many_tries":
          return TOO_MANY;
      }
    },
  ),
  "POST link/look": call(z.strictObject({ kind, token }), async (deps, input, visitor) => {
    const seen = await lookAtLink(deps, { ...input, visitor });
    if (seen.kind === "good") return { status: 200, body: { email: seen.email } };
    return seen.kind === "over" ? OVER : TOO_MANY;
  }),
  "POST password/reset": call(z.strictObject({ token, password }), async (deps, input, visitor) => {
    const reset = await resetPassword(deps, { ...input, visitor });
    if (reset.kind === "done") return { status: 200, body: { email: reset.email } };
    return reset.kind === "over" ? OVER : TOO_MANY;
  }),
  "POST first-user": call(z.strictObject({ code: token, email, password }), async (deps, input, visitor) => {
    const made = await setUpFirstUser(deps, { ...input, visitor });
    if (made.kind === "made") return { status: 201, body: { email: made.user.email } };
    return made.kind === "over" ? OVER : TOO_MANY;
  }),
};

export const isOwnCall = (action: string): boolean => Object.hasOwn(CALLS, action);

/** Answers one of them. What is wrong with a value is told; what goes wrong inside is logged, and told by nothing. */
export async function answerOwnCall(
  deps: ConsoleDeps,
  request: Request,
  action: string,
  visitor: Visitor,
): Promise<Response> {
  const told = await tell(deps, request, action, visitor);
  return Response.json(told.body, {
    status: told.status,
    headers: { "cache-control": "no-store", ...(told === TOO_MANY ? { "retry-after": "60" } : {}) },
  });
}

async function tell(deps: ConsoleDeps, request: Request, action: string, visitor: Visitor): Promise<Told> {
  const body = await request.json().catch(() => undefined);
  try {
    return (await CALLS[action]?.(deps, visitor, body)) ?? BAD_INPUT;
  } catch (error) {
    if (error instanceof AppError) return { status: error.status, body: { error: error.message } };
    deps.log.error("sign_in.failed", errorFacts(error));
    return { status: 503, body: { error: "This does not work just now. Try again in a moment." } };
  }
}
