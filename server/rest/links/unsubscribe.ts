import type { RestDeps } from "#server/deps";
import { type Subscriber, unsubscribePath } from "#server/platform/secrets/recipient-tokens";
import { getSubscription, resubscribe, unsubscribe } from "#server/services/suppressions/unsubscribe";
import { withApi } from "../pipeline/route";
import { invalidLinkPage, renderSubscription } from "./unsubscribe-page";

const LINK = {
  access: "public",
  isLink: true,
  tier: "none",
  params: { token: "The token from the `List-Unsubscribe` header or the link of the email." },
  responseType: "text/html; charset=utf-8",
} as const;

/** A change by the holder of a link, without a login, cookie or redirect. The response is the page. */
const changeRoute = (
  end: "" | "/all" | "/resubscribe",
  summary: string,
  change: (ctx: RestDeps, subscriber: Subscriber) => Promise<unknown>,
) =>
  withApi({
    ...LINK,
    route: `POST ${unsubscribePath}${end}`,
    summary,
    ignoresBody: true,
    handle: ({ ctx, params }) => showPage(ctx, params.token, change),
  });

/** Public: the link is for the recipient of the email, who has no API key. */
export const unsubscribeRoutes = [
  withApi({
    ...LINK,
    route: `GET ${unsubscribePath}`,
    summary: "Show the unsubscribe page without unsubscribing",
    handle: ({ ctx, params }) => showPage(ctx, params.token),
  }),
  // By an email client (RFC 8058 section 3.2) or by the page.
  changeRoute("", "Unsubscribe a recipient with one click", (ctx, subscriber) =>
    unsubscribe(ctx, subscriber, "list"),
  ),
  changeRoute("/all", "Unsubscribe a recipient from all lists", (ctx, subscriber) =>
    unsubscribe(ctx, subscriber, "all"),
  ),
  changeRoute("/resubscribe", "Subscribe a recipient again who unsubscribed", resubscribe),
];

async function showPage(
  ctx: RestDeps,
  token: string,
  change?: (ctx: RestDeps, subscriber: Subscriber) => Promise<unknown>,
) {
  const subscriber = ctx.recipientTokens.openUnsubscribe(token);
  if (!subscriber) return { page: invalidLinkPage(), status: 404 };
  await change?.(ctx, subscriber);
  const { address, list = null } = subscriber;
  const path = unsubscribePath.replace("{token}", token);
  return { page: renderSubscription({ path, address, list }, await getSubscription(ctx, subscriber)) };
}
