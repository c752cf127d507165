import { TRPCError } from "@trpc/server";
import { getHTTPStatusCodeFromError } from "@trpc/server/http";
import type { Cookies } from "#server/auth/cookies";
import type { ConsoleDeps } from "#server/console-deps";
import { createTrpcContext } from "./context";
import { createCaller } from "./router";

/** What a document of somebody else's HTML is answered with: it may do nothing, wherever it is opened. */
export const documentHeaders = (withImages: boolean) => ({
  "content-security-policy": policyOf(withImages),
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cache-control": "private, no-store",
});

const policyOf = (withImages: boolean): string =>
  [
    "sandbox",
    "default-src 'none'",
    "style-src 'unsafe-inline'",
    `img-src data:${withImages ? " https:" : ""}`,
    "form-action 'none'",
    "base-uri 'none'",
    "frame-ancestors 'self'",
  ].join("; ");

/**
 * A message's HTML as a document that can do nothing: its policy takes scripts, forms, frames and its origin away even
 * where somebody opens it outside the frame it is made for. `withImages` lets it fetch pictures from other hosts by https.
 */
export async function answerMessageBody(
  deps: ConsoleDeps,
  cookies: Cookies,
  wanted: { team: string; id: string; withImages: boolean },
): Promise<Response> {
  const { team, id, withImages } = wanted;
  const headers = documentHeaders(withImages);
  try {
    const html = await createCaller(createTrpcContext(deps, cookies)).emails.html({ team, id });
    return new Response(html ?? "", { headers: { ...headers, "content-type": "text/html; charset=utf-8" } });
  } catch (error) {
    const known = error instanceof TRPCError ? error : new TRPCError({ code: "INTERNAL_SERVER_ERROR" });
    return new Response(`${known.message}\n`, {
      status: getHTTPStatusCodeFromError(known),
      headers: { ...headers, "content-type": "text/plain; charset=utf-8" },
    });
  }
}
