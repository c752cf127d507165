import type { NextRequest } from "next/server";
import { getDeps } from "#server/boot/next";
import { answerMessageBody } from "#server/trpc/message-body";

type Context = { params: Promise<{ id: string }> };

/** The document in the sandboxed frame: a message's HTML, and nothing else of ours. */
export async function GET(request: NextRequest, { params }: Context): Promise<Response> {
  const { searchParams } = request.nextUrl;
  return answerMessageBody(getDeps(), request.cookies, {
    team: searchParams.get("team") ?? "",
    id: (await params).id,
    withImages: searchParams.get("images") === "1",
  });
}
