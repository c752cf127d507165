import type { NextRequest } from "next/server";
import { getDeps } from "#server/startup/next";
import { answerChangesFile } from "#server/trpc/activity/files";

/** The list of changes as CSV. */
export const GET = (request: NextRequest): Promise<Response> =>
  answerChangesFile(getDeps(), request.cookies, request.nextUrl.searchParams);
