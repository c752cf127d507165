import type { NextRequest } from "next/server";
import { handleAuth } from "#server/auth";
import { answerConsoleCall } from "#server/startup/next";

type Context = { params: Promise<{ nextauth: string[] }> };

const handle = (request: NextRequest, context: Context): Promise<Response> =>
  answerConsoleCall(request, (deps) => handleAuth(deps, request, context));

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
