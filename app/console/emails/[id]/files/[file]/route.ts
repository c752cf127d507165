import type { NextRequest } from "next/server";
import { getDeps } from "#server/boot/next";
import { answerFile } from "#server/trpc/email-files";

type Context = { params: Promise<{ id: string; file: string }> };

/** A file of the mail, to be kept. */
export async function GET(request: NextRequest, { params }: Context): Promise<Response> {
  const team = request.nextUrl.searchParams.get("team") ?? "";
  const { id, file } = await params;
  return answerFile(getDeps(), { cookies: request.cookies, team }, { emailId: id, id: file });
}
