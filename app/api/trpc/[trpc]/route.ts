import type { NextRequest } from "next/server";
import { getDeps } from "#server/startup/next";
import { answerTrpc } from "#server/trpc/http";

const handle = (request: NextRequest): Promise<Response> => answerTrpc(getDeps(), request, request.cookies);

export { handle as GET, handle as POST };
