import type { NextRequest } from "next/server";
import { getDeps } from "#server/boot/next";
import { answerRequestsFile } from "#server/trpc/activity-files";

/** What the page of the same name lists, as CSV. */
export const GET = (request: NextRequest): Promise<Response> =>
  answerRequestsFile(getDeps(), request.cookies, request.nextUrl.searchParams);
