import type { NextRequest } from "next/server";
import { getDeps } from "#server/startup/next";
import { answerEmailExport } from "#server/trpc/emails/files";

/** Exports all emails that match the filters in the URL as CSV. */
export async function GET(request: NextRequest): Promise<Response> {
  const { team = "", ...query } = Object.fromEntries(request.nextUrl.searchParams);
  return answerEmailExport(getDeps(), { cookies: request.cookies, team }, query);
}
