import { clickPath, openPath } from "#server/recipient-tokens";
import { recordVisit } from "#server/services/tracking/record";
import { incompleteLink } from "./mail-links";
import { withApi } from "./route";

/** One transparent point, as GIF89a. */
const PIXEL = Buffer.from("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7", "base64");

const params = { token: "As it stands in the mail." };

/** Public: whoever reads the mail holds no key. */
export const getOpen = withApi(
  {
    method: "GET",
    path: openPath,
    access: "public",
    tier: "none",
    summary: "Show the picture that tells that a mail was opened",
    description:
      "It stands in mail from domains with `open_tracking`. A visit is recorded as `email.opened`, a repetition within the hour is not, and HEAD never is.",
    params,
    answers: "image/gif",
  },
  async ({ ctx, params, header, isHead, address }) => {
    const copy = ctx.recipientTokens.openOpen(params.token ?? "");
    if (!copy) throw incompleteLink();
    if (!isHead) await recordVisit(ctx, copy, { type: "email.opened", address, agent: header("user-agent") });
    return { image: PIXEL };
  },
);

/** Public: whoever reads the mail holds no key. The token holds the address that the mail itself pointed to. */
export const getClick = withApi(
  {
    method: "GET",
    path: clickPath,
    access: "public",
    tier: "none",
    summary: "Lead on to where a link of a mail points",
    description:
      "Such links stand in mail from domains with `click_tracking`, and lead nowhere but where the mail pointed. A visit is recorded as `email.clicked`, a repetition within the hour is not, and HEAD never is.",
    params,
    status: 302,
    answers: "text/plain; charset=utf-8",
  },
  async ({ ctx, params, header, isHead, address }) => {
    const click = ctx.recipientTokens.openClick(params.token ?? "");
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
);
