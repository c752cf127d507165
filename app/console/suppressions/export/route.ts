import type { NextRequest } from "next/server";
import { getDeps } from "#server/startup/next";
import { answerExport } from "#server/trpc/suppressions/files";

/** Exports the list as CSV, with the filters of the query parameters. */
export function GET(request: NextRequest): Promise<Response> {
  const { team = "", ...query } = Object.fromEntries(request.nextUrl.searchParams);
  return answerExport(getDeps(), { cookies: request.cookies, team }, query);
}
