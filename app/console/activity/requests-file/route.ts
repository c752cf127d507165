import type { NextRequest } from "next/server";
import { getDeps } from "#server/startup/next";
import { answerRequestsFile } from "#server/trpc/activity/files";

/** The list of API requests as CSV. */
export const GET = (request: NextRequest): Promise<Response> =>
  answerRequestsFile(getDeps(), request.cookies, request.nextUrl.searchParams);
