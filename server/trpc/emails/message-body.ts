import { TRPCError } from "@trpc/server";
import { getHTTPStatusCodeFromError } from "@trpc/server/http";
import type { Cookies } from "#server/auth/cookies";
import type { ConsoleDeps } from "#server/auth/deps";
import { createTrpcContext } from "../context";
import { createCaller } from "../router";

/** Response headers for a document of untrusted HTML; it stays inert wherever it is opened. */
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
 * The HTML of a message as an inert document: its policy disables scripts, forms, frames and its origin, even
 * if it is opened outside its frame. `withImages` lets it load images from other hosts over https.
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
