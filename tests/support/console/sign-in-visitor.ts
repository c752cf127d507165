import { handleAuth } from "#server/auth";
import type { ConsoleDeps } from "#server/auth/deps";
import { openSession } from "#server/services/people/sessions";
import { answerTrpc } from "#server/trpc/http";
import { cookiesOf } from "./console";

export type VisitorOptions = { address?: string; userAgent?: string };

/**
 * The result of a sign-in request: where it redirects, the error it reports, and whether a session is open.
 */
export type SignInResult = { status: number; to: string; error: string | null; isIn: boolean };

/** A browser without a display: it stores cookies, and calls `/api/auth` and `/api/trpc` like pages do. */
export function openVisitor(deps: ConsoleDeps, options: VisitorOptions = {}) {
  const {
    address = "192.0.2.1",
    userAgent = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
  } = options;
  // next-auth reads its own URL from here; startup sets it.
  process.env.NEXTAUTH_URL = deps.url;
  const jar = new Map<string, string>();

  const headersOf = (more: Record<string, string> = {}) =>
    new Headers({
      "user-agent": userAgent,
      "x-backstamp-peer": address,
      cookie: [...jar].map(([name, value]) => `${name}=${value}`).join("; "),
      ...more,
    });
  const keep = (response: Response) => {
    for (const line of response.headers.getSetCookie()) {
      const [pair = "", ...attributes] = line.split("; ");
      const at = pair.indexOf("=");
      const isGone = attributes.some((each) => each === "Max-Age=0" || /^Expires=.*1970/.test(each));
      if (isGone || pair.length === at + 1) jar.delete(pair.slice(0, at));
      else jar.set(pair.slice(0, at), pair.slice(at + 1));
    }
    return response;
  };
  const ask = async (path: string, init: RequestInit = {}) => {
    const url = new URL(`${deps.url}/api/auth/${path}`);
    const nextauth = url.pathname.split("/").slice(3);
    const request = new Request(url, init);
    return keep(await handleAuth(deps, request, { params: Promise.resolve({ nextauth }) }));
  };
  const sessionName = deps.url.startsWith("https:") ? "__Host-backstamp.session" : "backstamp.session";

  const visitor = {
    jar,
    get: (path: string) => ask(path, { headers: headersOf() }),
    /** A POST from a page of ours, or with other headers. */
    post: async (path: string, fields: Record<string, string>, headers: Record<string, string> = {}) => {
      const body = new URLSearchParams(fields).toString();
      return ask(path, {
        method: "POST",
        body,
        headers: headersOf({
          origin: deps.url,
          "content-type": "application/x-www-form-urlencoded",
          "content-length": String(body.length),
          ...headers,
        }),
      });
    },
    /** A JSON request of the sign-in pages, optionally with other headers: the status and the response. */
    postJson: async (path: string, input: unknown, headers: Record<string, string> = {}) => {
      const body = JSON.stringify(input);
      const response = await ask(path, {
        method: "POST",
        body,
        headers: headersOf({
          origin: deps.url,
          "content-type": "application/json",
          "content-length": String(Buffer.byteLength(body)),
          ...headers,
        }),
      });
      const text = await response.text();
      const reply = response.headers.get("content-type")?.includes("json") ? JSON.parse(text) : text;
      return { status: response.status, reply, headers: response.headers };
    },
    byLink: (token: string, landing = "/console") =>
      visitor.submit("callback/link", { token, callbackUrl: landing }),
    /** A form of the sign-in pages, with their CSRF token. */
    submit: async (action: string, fields: Record<string, string>): Promise<SignInResult> => {
      const { csrfToken } = await (await visitor.get("csrf")).json();
      const response = await visitor.post(action, { ...fields, csrfToken, json: "true" });
      const { url } = await response.json();
      const to = new URL(url, deps.url);
      return {
        status: response.status,
        to: to.origin === deps.url ? `${to.pathname}${to.search}` : to.href,
        error: to.searchParams.get("error"),
        isIn: jar.has(sessionName),
      };
    },
    signIn: (email: string, password: string) => visitor.submit("callback/credentials", { email, password }),
    submitCode: (code: string) => visitor.submit("callback/two-factor", { code }),
    /** Calls a procedure over HTTP. Returns its result, or the code of its error. */
    call: async (procedure: string, input?: object): Promise<Called> => {
      const response = await answerTrpc(
        deps,
        new Request(`${deps.url}/api/trpc/${procedure}`, {
          method: "POST",
          body: JSON.stringify(input ?? {}),
          headers: headersOf({
            origin: deps.url,
            "content-type": "application/json",
            "content-length": String(JSON.stringify(input ?? {}).length),
          }),
        }),
        visitor.cookies,
      );
      return readCalled(await response.json());
    },
    query: async (procedure: string): Promise<Called> => {
      const request = new Request(`${deps.url}/api/trpc/${procedure}`, { headers: headersOf() });
      return readCalled(await (await answerTrpc(deps, request, visitor.cookies)).json());
    },
    cookies: {
      get: (name: string) => {
        const value = jar.get(name);
        return value === undefined ? undefined : { value };
      },
    },
  };
  return visitor;
}

/** A browser with a session of this user, without the requests of a sign-in and the device cookie. */
export async function openSignedIn(deps: ConsoleDeps, userId: string, address: string) {
  const visitor = openVisitor(deps, { address });
  const { id } = await openSession(deps, { userId, address, userAgent: null });
  const name = "__Host-backstamp.session";
  visitor.jar.set(name, (await cookiesOf(id)).get(name)?.value ?? "");
  return visitor;
}

export type SignInVisitor = ReturnType<typeof openVisitor>;
export type Called = { ok: true; data: unknown } | { ok: false; code: string; message: string };

type Answer = { result: { data?: unknown } } | { error: { message: string; data: { code: string } } };

const readCalled = (answer: Answer): Called =>
  "result" in answer
    ? { ok: true, data: answer.result.data }
    : { ok: false, code: answer.error.data.code, message: answer.error.message };
