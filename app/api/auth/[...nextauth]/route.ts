import type { NextRequest } from "next/server";
import NextAuth from "next-auth";
import { authOptions } from "#server/auth";
import { getDeps } from "#server/boot/next";

type Context = { params: Promise<{ nextauth: string[] }> };

/** What of next-auth is open: signing in by form, signing out, and the token that both need. */
const ACTIONS = new Set([
  "GET csrf",
  "GET error",
  "GET providers",
  "GET session",
  "GET signin",
  "POST callback/credentials",
  "POST signout",
]);
const bodyMaxBytes = 16 * 1024;

async function handle(request: NextRequest, context: Context): Promise<Response> {
  const { nextauth } = await context.params;
  if (!ACTIONS.has(`${request.method} ${nextauth.join("/")}`))
    return new Response("Not found\n", { status: 404 });
  // next-auth reads a body whole, whatever its length.
  const length = Number(request.headers.get("content-length") ?? Number.NaN);
  if (request.method === "POST" && !(length <= bodyMaxBytes))
    return new Response(`Send at most ${bodyMaxBytes} bytes, and say how many.\n`, { status: 413 });
  return NextAuth(request, context, authOptions(getDeps()));
}

export { handle as GET, handle as POST };
