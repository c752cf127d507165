import type { NextRequest } from "next/server";
import { answerAuth } from "#server/auth";
import { getDeps } from "#server/boot/next";

type Context = { params: Promise<{ nextauth: string[] }> };

const handle = (request: NextRequest, context: Context): Promise<Response> =>
  answerAuth(getDeps(), request, context);

export { handle as GET, handle as POST };
