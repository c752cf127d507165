import { decode } from "next-auth/jwt";
import { answerOwnCall, isOwnCall } from "#server/auth/calls";
import { type Cookies, sessionCookieName, stepCookie, stepCookieName } from "#server/auth/cookies";
import { markDevice, readDevice } from "#server/auth/devices";
import { answerByNextAuth, readCookies } from "#server/auth/next-auth";
import { authOptions } from "#server/auth/options";
import type { Visit } from "#server/auth/visit";
import { startPasskeySignIn } from "#server/services/account/passkey-sign-in";
import { readSecondStep } from "#server/services/account/second-step";
import { findSession, type Session } from "#server/services/sessions";
import type { ConsoleDeps } from "./console-deps";
import { AppError } from "./errors";
import { errorFacts } from "./log";
import { isBodyWithin, isFromOwnPage, sayForeign } from "./own-page";
import { visitorOf } from "./visitor";

/**
 * The session of whoever sent these cookies, or null. The token is only the way to our row, which is read every time: a
 * session that was ended is refused at its next call.
 */
export async function readSession(deps: ConsoleDeps, cookies: Cookies): Promise<Session | null> {
  const token = cookies.get(sessionCookieName(deps.url))?.value;
  if (!token || token.length > 4096) return null;
  const claims = await decode({ token, secret: deps.authSecret }).catch(() => null);
  return typeof claims?.sid === "string" ? findSession(deps, claims.sid) : null;
}

/** Who owes a second step, and by what they may take it. */
export type OwedStep = { email: string; hasTotp: boolean; hasPasskey: boolean };

/** The second step that whoever sent these cookies still owes, or null. */
export async function readStep(deps: ConsoleDeps, cookies: Cookies): Promise<OwedStep | null> {
  const token = cookies.get(stepCookieName(deps.url))?.value;
  const step = token ? await readSecondStep(deps, token) : null;
  return (
    step && {
      email: step.user.email,
      hasTotp: step.factors.hasTotp,
      hasPasskey: step.factors.passkeys > 0,
    }
  );
}

/** What of next-auth is open: signing in, signing out, and the token that both need. */
const ACTIONS: ReadonlySet<string> = new Set([
  "GET csrf",
  "GET error",
  "GET providers",
  "GET session",
  "GET signin",
  "POST callback/credentials",
  "POST callback/link",
  "POST callback/passkey",
  "POST callback/second-step",
  "POST signout",
]);
/** What is ours alone: what a passkey is to sign. */
const PASSKEY_OPTIONS = "POST passkey/options";
const bodyMaxBytes = 16 * 1024;

/** Answers a call below `/api/auth`. `context` is what Next gives a route file. */
export async function answerAuth(
  deps: ConsoleDeps,
  request: Request,
  context: { params: Promise<{ nextauth: string[] }> },
): Promise<Response> {
  const { nextauth } = await context.params;
  const action = `${request.method} ${nextauth.join("/")}`;
  if (!isOpen(deps, action)) return plain(404, "There is nothing here.");
  if (request.method === "POST") {
    if (!isFromOwnPage(deps.url, request.headers))
      return Response.json(
        { error: sayForeign(deps.url, request.headers) },
        { status: 403, headers: { "cache-control": "no-store" } },
      );
    // next-auth reads a body whole, whatever its length.
    if (!isBodyWithin(bodyMaxBytes, request.headers))
      return plain(413, `Send at most ${bodyMaxBytes} bytes, and say how many.`);
  }
  const visit = await openVisit(deps, request.headers);
  if (isOwnCall(action)) return answerOwnCall(deps, request, action, visit.visitor);
  if (action === PASSKEY_OPTIONS) return answerPasskeyOptions(deps, visit);
  const response = await answerByNextAuth(request, nextauth, authOptions(deps, visit));
  response.headers.set("cache-control", "no-store");
  if (visit.admission?.kind === "second_step")
    response.headers.append("set-cookie", stepCookie(deps.url, visit.admission.token));
  else if (visit.admission && visit.step !== null)
    response.headers.append("set-cookie", stepCookie(deps.url, null));
  if (visit.admission?.kind === "in") {
    const { email } = visit.admission.user;
    const mark = await markDevice(deps, email, visit.visitor.device ?? null);
    response.headers.append("set-cookie", mark);
  }
  return response;
}

const isOpen = (deps: ConsoleDeps, action: string): boolean =>
  action === PASSKEY_OPTIONS ||
  isOwnCall(action) ||
  ACTIONS.has(action) ||
  Object.keys(deps.providers).some((id) => action === `POST signin/${id}` || action === `GET callback/${id}`);

async function answerPasskeyOptions(deps: ConsoleDeps, visit: Visit): Promise<Response> {
  const headers = { "cache-control": "no-store" };
  try {
    return Response.json(await startPasskeySignIn(deps, visit), { headers });
  } catch (error) {
    if (error instanceof AppError)
      return Response.json({ error: error.message }, { status: error.status, headers });
    deps.log.error("sign_in.failed", errorFacts(error));
    return plain(503, "Signing in does not work just now.");
  }
}

const plain = (status: number, text: string) =>
  new Response(`${text}\n`, { status, headers: { "cache-control": "no-store" } });

async function openVisit(deps: ConsoleDeps, headers: Headers): Promise<Visit> {
  const cookies = readCookies(headers);
  return {
    visitor: { ...visitorOf(deps, headers), device: await readDevice(deps, cookies) },
    step: cookies.get(stepCookieName(deps.url)) || null,
    admission: null,
    landing: "/console",
  };
}
