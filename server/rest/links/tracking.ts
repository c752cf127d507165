import { clickPath, openPath } from "#server/platform/secrets/recipient-tokens";
import type { TrackingHost } from "#server/services/domains/served-hosts";
import { recordVisit } from "#server/services/tracking/record";
import { withApi } from "../pipeline/route";
import { incompleteLink } from "./mail-links";

/** One transparent pixel, as GIF89a. */
const PIXEL = Buffer.from("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7", "base64");

/** The copy that a token is of, if the host of the call serves links of its team. */
function requireServed<Opened extends { teamId: string }>(
  opened: Opened | null,
  host: TrackingHost | null,
): Opened {
  // Otherwise a team could use the name of another one for links of its own.
  if (opened === null || (host && !host.teamIds.includes(opened.teamId))) throw incompleteLink();
  return opened;
}

const params = { token: "The token from the link in the email." };

export const trackingRoutes = [
  /** Public: recipients have no API key. */
  withApi({
    route: `GET ${openPath}`,
    access: "public",
    isLink: true,
    isTracking: true,
    tier: "none",
    summary: "Serve the open-tracking pixel",
    description:
      "Email from domains with `open_tracking` contains this pixel. A request is recorded as `email.opened`, except a repeat within one hour or a HEAD request.",
    params,
    responseType: "image/gif",
    handle: async ({ ctx, params, header, isHead, address, trackingHost }) => {
      const copy = requireServed(ctx.recipientTokens.openOpen(params.token), trackingHost);
      if (!isHead)
        await recordVisit(ctx, copy, { type: "email.opened", address, agent: header("user-agent") });
      return { image: PIXEL };
    },
  }),
  /** Public: recipients have no API key. The token contains the original URL of the link. */
  withApi({
    route: `GET ${clickPath}`,
    access: "public",
    isLink: true,
    isTracking: true,
    tier: "none",
    summary: "Redirect a tracked link to its original URL",
    description:
      "Email from domains with `click_tracking` contains these links. They redirect only to the original URL in the email. A request is recorded as `email.clicked`, except a repeat within one hour or a HEAD request.",
    params,
    status: 302,
    responseType: "text/plain; charset=utf-8",
    handle: async ({ ctx, params, header, isHead, address, trackingHost }) => {
      const { target, ...copy } = requireServed(ctx.recipientTokens.openClick(params.token), trackingHost);
      if (!isHead)
        await recordVisit(ctx, copy, {
          type: "email.clicked",
          link: target,
          address,
          agent: header("user-agent"),
        });
      return { location: target };
    },
  }),
];
