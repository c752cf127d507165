import type { RestDeps } from "#server/deps";
import { type Subscriber, unsubscribePath } from "#server/recipient-tokens";
import { unsubscribe } from "#server/services/suppressions/unsubscribe";
import { incompleteLink } from "./mail-links";
import { withApi } from "./route";
import { askPage, donePage } from "./unsubscribe-page";

const html = "text/html; charset=utf-8";
const params = { token: "As it stands in the mail's header List-Unsubscribe." };

/** Public: the link is made for the one who got the mail. */
export const getUnsubscribe = withApi(
  {
    method: "GET",
    path: unsubscribePath,
    access: "public",
    tier: "none",
    summary: "Show the page that asks whether to unsubscribe; it changes nothing",
    params,
    answers: html,
  },
  async ({ ctx, params }) => ({ page: askPage(subscriberOf(ctx, params.token).address) }),
);

/** One click, by the reader's mail program or by the page (RFC 8058 section 3.2): no login, no cookie and no redirect. */
export const postUnsubscribe = withApi(
  {
    method: "POST",
    path: unsubscribePath,
    access: "public",
    tier: "none",
    summary: "Unsubscribe a recipient from the mail that offers it, by one click",
    params,
    ignoresBody: true,
    answers: html,
  },
  async ({ ctx, params }) => {
    const subscriber = subscriberOf(ctx, params.token);
    await unsubscribe(ctx, subscriber);
    return { page: donePage(subscriber.address) };
  },
);

function subscriberOf({ recipientTokens }: RestDeps, token = ""): Subscriber {
  const subscriber = recipientTokens.openUnsubscribe(token);
  if (!subscriber) throw incompleteLink();
  return subscriber;
}
