import type { NextRequest } from "next/server";
import { getDeps } from "#server/startup/next";
import { answerAddressExport } from "#server/trpc/members/personal-data";

/** What is stored for the address in the form, as lines of JSON. */
export const POST = (request: NextRequest): Promise<Response> =>
  answerAddressExport(getDeps(), request, request.cookies, request.nextUrl.searchParams.get("team") ?? "");
