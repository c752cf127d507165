import type { NextRequest } from "next/server";
import { getDeps } from "#server/boot/next";
import { answerSource } from "#server/trpc/email-files";

type Context = { params: Promise<{ id: string }> };

/** The mail as a file for mail programs. */
export async function GET(request: NextRequest, { params }: Context): Promise<Response> {
  const team = request.nextUrl.searchParams.get("team") ?? "";
  return answerSource(getDeps(), { cookies: request.cookies, team }, (await params).id);
}
