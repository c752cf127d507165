import type { NextRequest } from "next/server";
import { getDeps } from "#server/startup/next";
import { answerFile } from "#server/trpc/emails/files";

type Context = { params: Promise<{ id: string; file: string }> };

/** Downloads an attachment of the email. */
export async function GET(request: NextRequest, { params }: Context): Promise<Response> {
  const team = request.nextUrl.searchParams.get("team") ?? "";
  const { id, file } = await params;
  return answerFile(getDeps(), { cookies: request.cookies, team }, { emailId: id, id: file });
}
