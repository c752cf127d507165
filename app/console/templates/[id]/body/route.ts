import type { NextRequest } from "next/server";
import { getDeps } from "#server/boot/next";
import { answerTemplateBody } from "#server/trpc/template-body";

type Context = { params: Promise<{ id: string }> };

/** The document in the sandboxed frame that may fetch pictures: what is saved of a template, and nothing else of ours. */
export async function GET(request: NextRequest, { params }: Context): Promise<Response> {
  const { searchParams } = request.nextUrl;
  return answerTemplateBody(getDeps(), request.cookies, {
    team: searchParams.get("team") ?? "",
    id: (await params).id,
    values: searchParams.get("values") ?? "{}",
  });
}
