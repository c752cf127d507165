import type { NextRequest } from "next/server";
import { getDeps } from "#server/boot/next";
import { answerExport } from "#server/trpc/suppression-files";

/** The list as CSV: what the filters in the address find. */
export function GET(request: NextRequest): Promise<Response> {
  const { team = "", ...query } = Object.fromEntries(request.nextUrl.searchParams);
  return answerExport(getDeps(), { cookies: request.cookies, team }, query);
}
