import type { NextRequest } from "next/server";
import { getDeps } from "#server/boot/next";
import { answerExport } from "#server/trpc/suppression-files";

/** The whole list as CSV. */
export const GET = (request: NextRequest): Promise<Response> =>
  answerExport(getDeps(), request.cookies, request.nextUrl.searchParams.get("team") ?? "");
