import type { NextRequest } from "next/server";
import { handleAuth } from "#server/auth";
import { getDeps } from "#server/startup/next";

type Context = { params: Promise<{ nextauth: string[] }> };

const handle = (request: NextRequest, context: Context): Promise<Response> =>
  handleAuth(getDeps(), request, context);

export { handle as GET, handle as POST };
