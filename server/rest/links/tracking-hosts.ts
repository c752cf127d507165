import { z } from "zod";
import { notFound } from "#server/platform/errors";
import { hostNameOf, isHostBelowDomain } from "#server/platform/http/host-name";
import { findTrackingHost } from "#server/services/domains/served-hosts";
import { withApi } from "../pipeline/route";

/**
 * A proxy asks once for each new certificate, and for each TLS handshake with a name that has none.
 */
const perMinute = 1_000;

const HOST = "Must be a host name below a domain, such as links.example.com.";

export const trackingHostRoutes = [
  /** Public: a proxy calls it during a handshake, and can send no key. It returns what DNS shows, too. */
  withApi({
    route: "GET /api/tracking-hosts",
    access: "public",
    perMinute,
    summary: "Check whether a certificate may be requested for a tracking host",
    description:
      "For the on-demand TLS of a proxy, such as `ask` of Caddy. 200 for the tracking host of a verified domain whose CNAME record was found; 404 for any other name.",
    query: z.strictObject({
      domain: z.string(HOST).transform(hostNameOf).refine(isHostBelowDomain, HOST).describe("The host name."),
    }),
    example: { query: { domain: "links.example.com" } },
    response: z.object({ object: z.literal("tracking_host"), domain: z.string() }),
    errors: ["not_found", "rate_limited"],
    handle: async ({ ctx, query: { domain } }) => {
      const host = await findTrackingHost(ctx.hot, domain);
      if (!host?.isVerified) throw notFound("Tracking host");
      return { object: "tracking_host" as const, domain };
    },
  }),
];
