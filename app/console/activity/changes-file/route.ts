import type { NextRequest } from "next/server";
import { getDeps } from "#server/boot/next";
import { answerChangesFile } from "#server/trpc/activity-files";

/** What the page of the same name lists, as CSV. */
export const GET = (request: NextRequest): Promise<Response> =>
  answerChangesFile(getDeps(), request.cookies, request.nextUrl.searchParams);
