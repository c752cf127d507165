import type { NextApiRequest, NextApiResponse } from "next";
import NextAuth, { type AuthOptions } from "next-auth";
import { parseUrl } from "#server/platform/egress/parse-url";
import { invalidField } from "#server/platform/errors";

/**
 * Runs next-auth on a plain `Request`. next-auth's handler for route files reads headers and cookies from
 * Next.js's request scope, so this uses its handler for API routes, which receives them as arguments.
 */
export async function handleByNextAuth(
  request: Request,
  segments: string[],
  options: AuthOptions,
): Promise<Response> {
  const isPost = request.method === "POST";
  // next-auth would add the query of a POST to the parameters that it sends to a provider.
  const query = isPost ? {} : Object.fromEntries(new URL(request.url).searchParams);
  // next-auth answers an invalid callback URL with 500, also if it comes from a cookie.
  if (query.callbackUrl && !isHttpUrl(query.callbackUrl))
    throw invalidField("callbackUrl", "use a path, or an http or https URL.");
  const cookies = [...parseCookies(request.headers)].filter(
    ([name, value]) => !name.endsWith("next-auth.callback-url") || isHttpUrl(value),
  );
  const incoming = {
    method: isPost ? "POST" : "GET",
    headers: Object.fromEntries(request.headers),
    cookies: Object.fromEntries(cookies),
    query: { ...query, nextauth: segments },
    body: isPost ? Object.fromEntries(new URLSearchParams(await request.text())) : undefined,
  };
  const result = { status: 200, headers: new Headers(), body: null as string | null };
  const outgoing = {
    status(code: number) {
      result.status = code;
      return outgoing;
    },
    // next-auth calls it only for Set-Cookie.
    getHeader: () => result.headers.getSetCookie(),
    setHeader(name: string, value: string | string[]) {
      result.headers.delete(name);
      for (const each of [value].flat()) result.headers.append(name, encodeOutsideAscii(each));
      return outgoing;
    },
    json(body: unknown) {
      outgoing.setHeader("content-type", "application/json").end(JSON.stringify(body));
    },
    send(body: unknown) {
      outgoing.end(typeof body === "string" ? body : JSON.stringify(body ?? null));
    },
    end(body?: string) {
      result.body = body ?? null;
    },
  };
  await NextAuth(incoming as unknown as NextApiRequest, outgoing as unknown as NextApiResponse, options);
  return new Response(result.body, { status: result.status, headers: result.headers });
}

const isHttpUrl = (url: string): boolean =>
  /^https?:$/.test(parseUrl(url, url.startsWith("/") ? "http://localhost" : undefined)?.protocol ?? "");

/** next-auth copies texts of the request into Location as they are. */
const encodeOutsideAscii = (value: string): string => value.replace(/[^ -~]+/gu, encodeURIComponent);

/** The cookies of a request by name. Of several with the same name, the first. */
export function parseCookies(headers: Headers): Map<string, string> {
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
