import { type NextRequest, NextResponse } from "next/server";
import { GUIDE_POLICY, isGuidePath } from "#server/shared/guides";
import { findPageFault } from "#server/startup/http/page-faults";

const isDev = process.env.NODE_ENV === "development";
/**
 * On this host the API is also served at the root. Used only if Next.js runs alone; otherwise API calls
 * bypass it.
 */
const apiHost = process.env.BACKSTAMP_API_HOST?.toLowerCase();

const policyOf = (nonce: string): string =>
  [
    "default-src 'self'",
    // React's development build uses eval to reconstruct error stacks.
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

/** The first path segments of API calls from clients whose base URL lacks `/api`. None of them is a page. */
const API_NOUNS = new Set([
  "api-keys",
  "domains",
  "emails",
  "email-events",
  "logs",
  "suppressions",
  "templates",
  "usage",
  "webhooks",
]);

const isMisplacedCall = ({ nextUrl, headers }: NextRequest): boolean =>
  API_NOUNS.has(nextUrl.pathname.split("/", 2)[1] ?? "") && !headers.get("accept")?.includes("text/html");

const BELOW_API = /^\/api(?=\/|$)/;

/**
 * Next.js fails on a path that it cannot decode. Escaped again, the path gets the same response as any
 * unknown path.
 */
function rewriteLiterally({ nextUrl }: NextRequest): NextResponse {
  const url = nextUrl.clone();
  url.pathname = url.pathname.replaceAll("%", "%25");
  return NextResponse.rewrite(url);
}

const errorResponse = (status: number, name: string, message: string): NextResponse =>
  NextResponse.json({ error: message, name, message, statusCode: status }, { status });

/**
 * Rejects requests that no page can handle, and API calls without `/api`. Sets the Content-Security-Policy of
 * each page, for those of the console with a nonce for their scripts. Next.js reads the nonce from the policy
 * in the request headers. Access control is not done here.
 */
export function proxy(request: NextRequest): NextResponse {
  if (isForApi(request)) {
    const url = request.nextUrl.clone();
    url.pathname = `/api${url.pathname === "/" ? "" : url.pathname}`;
    return NextResponse.rewrite(url);
  }
  const { pathname: url, origin } = request.nextUrl;
  if (BELOW_API.test(url)) return findPageFault({ url }) ? rewriteLiterally(request) : NextResponse.next();
  const fault = findPageFault({ method: request.method, url });
  if (fault) return errorResponse(fault.status, fault.name, fault.message);
  if (isMisplacedCall(request)) {
    const baseUrl = `${process.env.BACKSTAMP_URL || origin}/api`;
    const message = `There is no ${url}: the API is below /api. Set the base URL of your client to ${baseUrl}. For a client that drops the path of a base URL, set BACKSTAMP_API_HOST.`;
    return errorResponse(404, "not_found", message);
  }
  if (isGuidePath(url)) {
    const response = NextResponse.next();
    response.headers.set("content-security-policy", GUIDE_POLICY);
    return response;
  }
  const nonce = Buffer.from(crypto.getRandomValues(new Uint8Array(16))).toString("base64");
  const policy = policyOf(nonce);
  const headers = new Headers(request.headers);
  headers.set("x-nonce", nonce);
  // Layouts do not know the URL; the console's one redirects to the sign-in page and back.
  headers.set("x-page", `${url}${request.nextUrl.search}`);
  headers.set("content-security-policy", policy);
  const response = NextResponse.next({ request: { headers } });
  response.headers.set("content-security-policy", policy);
  return response;
}

/**
 * Pages, and below `/api` only paths with an escape, because Next.js cannot decode some of them. A policy set
 * here replaces the one of a route file, and the routes excluded here serve untrusted HTML and files under
 * stricter policies. For `/api` and uploads the proxy would also reduce throughput and truncate large bodies.
 * The patterns allow a trailing slash because Next.js serves both forms.
 */
export const config = {
  matcher: [
    "/api(.*%.*)",
    "/((?!api(?:/|$)|_next/|robots[.]txt/?$|console/(?:(?:emails|templates)/[^/]+/body|emails/(?:export|[^/]+/source|[^/]+/files/.+)|suppressions/(?:import|export)|activity/(?:changes|requests)-file|settings/personal-data/export)/?$).*)",
  ],
};
