import type { NextRequest } from "next/server";
import { getDeps } from "#server/startup/next";
import { answerSource } from "#server/trpc/emails/files";

type Context = { params: Promise<{ id: string }> };

/** Downloads the email as an .eml file. */
export async function GET(request: NextRequest, { params }: Context): Promise<Response> {
  const team = request.nextUrl.searchParams.get("team") ?? "";
  return answerSource(getDeps(), { cookies: request.cookies, team }, (await params).id);
}
