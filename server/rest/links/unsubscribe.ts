import type { RestDeps } from "#server/deps";
import { type Subscriber, unsubscribePath } from "#server/platform/secrets/recipient-tokens";
import { unsubscribe } from "#server/services/suppressions/suppress";
import { escapeHtml } from "#server/shared/text/escape-html";
import { withApi } from "../pipeline/route";
import { incompleteLink } from "./mail-links";

const html = "text/html; charset=utf-8";
const params = { token: "The token from the `List-Unsubscribe` header of the email." };

export const unsubscribeRoutes = [
  /** Public: the link is for the recipient of the email, who has no API key. */
  withApi({
    route: `GET ${unsubscribePath}`,
    access: "public",
    isLink: true,
    tier: "none",
    summary: "Show the unsubscribe confirmation page without unsubscribing",
    params,
    responseType: html,
    handle: async ({ ctx, params }) => ({ page: renderConfirmPage(subscriberOf(ctx, params.token).address) }),
  }),
  /**
   * One-click unsubscribe by an email client or by the page (RFC 8058 section 3.2): no login, cookie or
   * redirect.
   */
  withApi({
    route: `POST ${unsubscribePath}`,
    access: "public",
    isLink: true,
    tier: "none",
    summary: "Unsubscribe a recipient with one click",
    params,
    ignoresBody: true,
    responseType: html,
    handle: async ({ ctx, params }) => {
      const subscriber = subscriberOf(ctx, params.token);
      await unsubscribe(ctx, subscriber);
      return { page: renderDonePage(subscriber.address) };
    },
  }),
];

function subscriberOf({ recipientTokens }: RestDeps, token: string): Subscriber {
  const subscriber = recipientTokens.openUnsubscribe(token);
  if (!subscriber) throw incompleteLink();
  return subscriber;
}

const STYLE =
  "body{font:1rem/1.5 system-ui,sans-serif;max-width:32rem;margin:15vh auto;padding:0 1rem;color:#1c1917;background:#fff}" +
  "strong{overflow-wrap:anywhere}button{font:inherit;padding:.5rem 1rem;border:0;border-radius:.375rem;background:#1c1917;color:#fff;cursor:pointer}" +
  "@media(prefers-color-scheme:dark){body{color:#f5f5f4;background:#1c1917}button{color:#1c1917;background:#f5f5f4}}";

const pageOf = (title: string, content: string): string =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">` +
  `<meta name="robots" content="noindex"><title>${title}</title><style>${STYLE}</style><main><h1>${title}</h1>${content}</main></html>`;

/**
 * The page that asks the recipient to confirm. Viewing it changes nothing, because programs follow links too.
 */
export const renderConfirmPage = (address: string): string =>
  pageOf(
    "Unsubscribe",
    `<p>Stop sending these emails to <strong>${escapeHtml(address)}</strong>?</p>` +
      `<form method="post"><input type="hidden" name="List-Unsubscribe" value="One-Click"><button>Unsubscribe</button></form>`,
  );

/** The page that confirms the unsubscribe. */
export const renderDonePage = (address: string): string =>
  pageOf(
    "Unsubscribed",
    `<p><strong>${escapeHtml(address)}</strong> will no longer receive these emails.</p>`,
  );
