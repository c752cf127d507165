import type { RestDeps } from "#server/deps";
import { type Subscriber, unsubscribePath } from "#server/platform/secrets/recipient-tokens";
import { unsubscribe } from "#server/services/suppressions/suppress";
import { withApi } from "../pipeline/route";
import { incompleteLink } from "./mail-links";
import { renderConfirmPage, renderDonePage } from "./unsubscribe-page";

const html = "text/html; charset=utf-8";
const params = { token: "The token from the `List-Unsubscribe` header of the email." };

export const unsubscribeRoutes = [
  /** Public: the link is for the recipient of the email, who has no API key. */
  withApi(
    {
      route: `GET ${unsubscribePath}`,
      access: "public",
      tier: "none",
      summary: "Show the unsubscribe confirmation page without unsubscribing",
      params,
      responseType: html,
    },
    async ({ ctx, params }) => ({ page: renderConfirmPage(subscriberOf(ctx, params.token).address) }),
  ),
  /** One-click unsubscribe by an email client or by the page (RFC 8058 section 3.2): no login, cookie or redirect. */
  withApi(
    {
      route: `POST ${unsubscribePath}`,
      access: "public",
      tier: "none",
      summary: "Unsubscribe a recipient with one click",
      params,
      ignoresBody: true,
      responseType: html,
    },
    async ({ ctx, params }) => {
      const subscriber = subscriberOf(ctx, params.token);
      await unsubscribe(ctx, subscriber);
      return { page: renderDonePage(subscriber.address) };
    },
  ),
];

function subscriberOf({ recipientTokens }: RestDeps, token: string): Subscriber {
  const subscriber = recipientTokens.openUnsubscribe(token);
  if (!subscriber) throw incompleteLink();
  return subscriber;
}
