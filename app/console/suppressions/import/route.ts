import type { NextRequest } from "next/server";
import { getDeps } from "#server/boot/next";
import { answerImport } from "#server/trpc/suppression-files";

/** Takes a CSV file as it is, and tells how far it is read. */
export const POST = (request: NextRequest): Promise<Response> =>
  answerImport(getDeps(), request, request.cookies, request.nextUrl.searchParams.get("team") ?? "");
