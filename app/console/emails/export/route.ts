import type { NextRequest } from "next/server";
import { getDeps } from "#server/boot/next";
import { answerEmailExport } from "#server/trpc/email-files";

/** The list as a file: what the filters in the address find. */
export async function GET(request: NextRequest): Promise<Response> {
  const { team = "", ...query } = Object.fromEntries(request.nextUrl.searchParams);
  return answerEmailExport(getDeps(), { cookies: request.cookies, team }, query);
}
