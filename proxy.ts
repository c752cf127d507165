import { type NextRequest, NextResponse } from "next/server";

const isDev = process.env.NODE_ENV === "development";
/** At the root of this host the API answers too. Asked only where Next runs alone: elsewhere its calls never come here. */
const apiHost = process.env.POSTHORN_API_HOST?.toLowerCase();

const policyOf = (nonce: string): string =>
  [
    "default-src 'self'",
    // React's development build evaluates code to show where an error came from.
    `script-src 'self' 'nonce-${nonce}' 'strict-dynamic'${isDev ? " 'unsafe-eval'" : ""}`,
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "frame-src 'self'",
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join("; ");

const isForApi = ({ headers }: NextRequest): boolean =>
  Boolean(apiHost) && headers.get("host")?.replace(/:\d*$/, "").toLowerCase() === apiHost;

/**
 * Gives each page its Content-Security-Policy and the nonce by which its own scripts are known; Next reads the nonce from
 * the request's copy of the policy. Who may see a page is not decided here.
 */
export function proxy(request: NextRequest): NextResponse {
  if (isForApi(request)) {
    const url = request.nextUrl.clone();
    url.pathname = `/api${url.pathname === "/" ? "" : url.pathname}`;
    return NextResponse.rewrite(url);
  }
  const nonce = Buffer.from(crypto.getRandomValues(new Uint8Array(16))).toString("base64");
  const policy = policyOf(nonce);
  const headers = new Headers(request.headers);
  headers.set("x-nonce", nonce);
  headers.set("content-security-policy", policy);
  const response = NextResponse.next({ request: { headers } });
  response.headers.set("content-security-policy", policy);
  return response;
}

/**
 * Pages alone. Next keeps a policy that is set here and drops a route file's own, without which a stranger's HTML could run;
 * under `/api` it would cost throughput as well, and cut large bodies, as it would of files that come. Next answers every
 * address with a slash at its end, too.
 */
export const config = {
  matcher: [
    "/((?!api(?:/|$)|_next/|console/(?:(?:emails|templates)/[^/]+/body|emails/(?:export|[^/]+/source|[^/]+/files/.+)|suppressions/(?:import|export)|activity/(?:changes|requests)-file)/?$).*)",
  ],
};
