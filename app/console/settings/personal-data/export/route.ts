import type { NextRequest } from "next/server";
import { getDeps } from "#server/startup/next";
import { answerAddressExport } from "#server/trpc/members/personal-data";

/** What is stored of the address of the query parameter, as lines of JSON. */
export function GET(request: NextRequest): Promise<Response> {
  const { searchParams } = request.nextUrl;
  const team = searchParams.get("team") ?? "";
  return answerAddressExport(
    getDeps(),
    { cookies: request.cookies, team },
    searchParams.get("address") ?? "",
  );
}
