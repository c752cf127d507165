export const dynamic = "force-static";

/** An installation has no page for search engines, and links in emails act for their recipients. */
export const GET = () =>
  new Response("User-agent: *\nDisallow: /\n", {
    headers: {
      "Content-Type": "text/plain; charset=utf-8",
      "Content-Security-Policy": "sandbox; default-src 'none'; frame-ancestors 'none'",
    },
  });
