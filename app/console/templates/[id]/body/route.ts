import type { NextRequest } from "next/server";
import { getDeps } from "#server/startup/next";
import { answerTemplateBody } from "#server/trpc/templates/body";

type Context = { params: Promise<{ id: string }> };

/** The document of the sandboxed frame that may load images: only the saved HTML of the template. */
export async function GET(request: NextRequest, { params }: Context): Promise<Response> {
  const { searchParams } = request.nextUrl;
  return answerTemplateBody(getDeps(), request.cookies, {
    team: searchParams.get("team") ?? "",
    id: (await params).id,
    values: searchParams.get("values") ?? "{}",
  });
}
