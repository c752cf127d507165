import type { NextRequest } from "next/server";
import { getDeps } from "#server/startup/next";
import { answerMessageBody } from "#server/trpc/emails/message-body";

type Context = { params: Promise<{ id: string }> };

/** The document of the sandboxed frame: only the HTML of the message. */
export async function GET(request: NextRequest, { params }: Context): Promise<Response> {
  const { searchParams } = request.nextUrl;
  return answerMessageBody(getDeps(), request.cookies, {
    team: searchParams.get("team") ?? "",
    id: (await params).id,
    withImages: searchParams.get("images") === "1",
  });
}
