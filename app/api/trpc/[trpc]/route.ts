import type { NextRequest } from "next/server";
import { answerConsoleCall } from "#server/startup/next";
import { answerTrpc } from "#server/trpc/http";

const handle = (request: NextRequest): Promise<Response> =>
  answerConsoleCall(request, (deps) => answerTrpc(deps, request, request.cookies));

/** All methods, because Next would answer the others without the headers of the API. */
export {
  handle as DELETE,
  handle as GET,
  handle as HEAD,
  handle as OPTIONS,
  handle as PATCH,
  handle as POST,
  handle as PUT,
};
