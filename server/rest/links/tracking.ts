import { clickPath, openPath } from "#server/platform/secrets/recipient-tokens";
import { recordVisit } from "#server/services/tracking/record";
import { withApi } from "../pipeline/route";
import { incompleteLink } from "./mail-links";

/** One transparent pixel, as GIF89a. */
const PIXEL = Buffer.from("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7", "base64");

const params = { token: "The token from the link in the email." };

export const trackingRoutes = [
  /** Public: recipients have no API key. */
  withApi({
    route: `GET ${openPath}`,
    access: "public",
    isLink: true,
    tier: "none",
    summary: "Serve the open-tracking pixel",
    description:
      "Email from domains with `open_tracking` contains this pixel. A request is recorded as `email.opened`, except a repeat within one hour or a HEAD request.",
    params,
    responseType: "image/gif",
    handle: async ({ ctx, params, header, isHead, address }) => {
      const copy = ctx.recipientTokens.openOpen(params.token);
      if (!copy) throw incompleteLink();
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
    tier: "none",
    summary: "Redirect a tracked link to its original URL",
    description:
      "Email from domains with `click_tracking` contains these links. They redirect only to the original URL in the email. A request is recorded as `email.clicked`, except a repeat within one hour or a HEAD request.",
    params,
    status: 302,
    responseType: "text/plain; charset=utf-8",
    handle: async ({ ctx, params, header, isHead, address }) => {
      const click = ctx.recipientTokens.openClick(params.token);
      if (!click) throw incompleteLink();
      const { target, ...copy } = click;
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
