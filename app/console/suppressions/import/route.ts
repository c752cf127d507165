import type { NextRequest } from "next/server";
import { getDeps } from "#server/startup/next";
import { answerImport } from "#server/trpc/suppressions/files";

/** Imports a CSV file from the request body, and streams the progress. */
export const POST = (request: NextRequest): Promise<Response> =>
  answerImport(getDeps(), request, request.cookies, request.nextUrl.searchParams.get("team") ?? "");
