import type { NextApiRequest, NextApiResponse } from "next";
import NextAuth, { type AuthOptions } from "next-auth";

/**
 * Answers one call by next-auth, with nothing but the request itself: its entry for route files reads headers and
 * cookies from Next's own scope, so this speaks to the other one, which takes them as given.
 */
export async function answerByNextAuth(
  request: Request,
  segments: string[],
  options: AuthOptions,
): Promise<Response> {
  const isPost = request.method === "POST";
  const incoming = {
    method: request.method,
    headers: Object.fromEntries(request.headers),
    cookies: Object.fromEntries(readCookies(request.headers)),
    // It would add the query of a POST to what it asks a provider for.
    query: { ...(isPost ? {} : Object.fromEntries(new URL(request.url).searchParams)), nextauth: segments },
    body: isPost ? Object.fromEntries(new URLSearchParams(await request.text())) : undefined,
  };
  const answer = { status: 200, headers: new Headers(), body: null as string | null };
  const outgoing = {
    status(code: number) {
      answer.status = code;
      return outgoing;
    },
    // Asked for the cookies alone.
    getHeader: () => answer.headers.getSetCookie(),
    setHeader(name: string, value: string | string[]) {
      answer.headers.delete(name);
      for (const each of [value].flat()) answer.headers.append(name, each);
      return outgoing;
    },
    json(body: unknown) {
      outgoing.setHeader("content-type", "application/json").end(JSON.stringify(body));
    },
    send(body: unknown) {
      outgoing.end(typeof body === "string" ? body : JSON.stringify(body ?? null));
    },
    end(body?: string) {
      answer.body = body ?? null;
    },
  };
  await NextAuth(incoming as unknown as NextApiRequest, outgoing as unknown as NextApiResponse, options);
  return new Response(answer.body, { status: answer.status, headers: answer.headers });
}

/** The cookies of a request by name, the first of each. */
export function readCookies(headers: Headers): Map<string, string> {
  const found = new Map<string, string>();
  for (const pair of (headers.get("cookie") ?? "").split(";")) {
    const at = pair.indexOf("=");
    const name = pair.slice(0, at).trim();
    if (at > 0 && !found.has(name)) found.set(name, decode(pair.slice(at + 1).trim()));
  }
  return found;
}

function decode(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}
