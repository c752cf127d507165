import type { Subscription } from "#server/services/suppressions/unsubscribe";
import { escapeHtml } from "#server/shared/text/escape-html";

const STYLE =
  ":root{color-scheme:light dark}" +
  "body{font:1rem/1.5 system-ui,sans-serif;max-width:32rem;margin:12vh auto;padding:0 1rem;color:#1c1917;background:#fff}" +
  "strong{overflow-wrap:anywhere}form{margin:.75rem 0}" +
  "button{font:inherit;padding:.625rem 1rem;border:1px solid #1c1917;border-radius:.375rem;background:#1c1917;color:#fff;cursor:pointer;max-width:100%;overflow-wrap:anywhere}" +
  "button.second{background:none;color:inherit}button:focus-visible{outline:3px solid #2563eb;outline-offset:2px}" +
  "@media(prefers-color-scheme:dark){body{color:#f5f5f4;background:#1c1917}button{color:#1c1917;background:#f5f5f4;border-color:#f5f5f4}button:focus-visible{outline-color:#93c5fd}}";

const pageOf = (title: string, content: string): string =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">` +
  `<meta name="robots" content="noindex"><title>${title}</title><style>${STYLE}</style><main><h1>${title}</h1>${content}</main></html>`;

/** The page of a link that is truncated or was not created here. */
export const invalidLinkPage = (): string =>
  pageOf(
    "Link not valid",
    "<p>This unsubscribe link is incomplete or no longer valid. Nothing was changed.</p>" +
      "<p>Open the link from the email itself, or reply to the email to unsubscribe.</p>",
  );

/** The link of the page, and the recipient that it belongs to. */
type Shown = { path: string; address: string; list: string | null };

/**
 * The page of a valid link: what the recipient gets, and a form for each possible change. Viewing it changes
 * nothing, because programs follow links too. It needs no scripts. It does not show the whole address,
 * because emails are forwarded with their links.
 */
export function renderSubscription({ path, address, list }: Shown, { state, domain }: Subscription): string {
  const recipient = `<strong>${escapeHtml(maskAddress(address))}</strong>`;
  const sender = domain === null ? "this sender" : escapeHtml(domain);
  const name =
    list === null ? `email of the lists of ${sender}` : `<strong>${escapeHtml(list)}</strong> of ${sender}`;
  const form = (action: string, label: string, isSecond = false) =>
    `<form method="post" action="${escapeHtml(path + action)}">` +
    `<input type="hidden" name="List-Unsubscribe" value="One-Click"><button${isSecond ? ' class="second"' : ""}>${label}</button></form>`;
  const all = list === null ? "" : form("/all", `Unsubscribe from all lists of ${sender}`, true);
  const again = form("/resubscribe", "Subscribe again", true);
  const rest = "<p>Other email, such as receipts, can still be sent.</p>";
  switch (state) {
    case "subscribed":
      return pageOf(
        "Unsubscribe",
        `<p>Stop sending ${name} to ${recipient}?</p>` +
          form("", list === null ? "Unsubscribe" : `Unsubscribe from ${escapeHtml(list)}`) +
          all,
      );
    case "list":
      return pageOf("Unsubscribed", `<p>${recipient} will no longer receive ${name}.</p>${again}${all}`);
    case "all":
      return pageOf(
        "Unsubscribed",
        `<p>${recipient} will no longer receive email of the lists of ${sender}.</p>${rest}${again}`,
      );
    case "blocked":
      return pageOf("Unsubscribed", `<p>${recipient} receives no email from ${sender}.</p>`);
  }
}

/** `a…@example.net` for `ann@example.net`. */
function maskAddress(address: string): string {
  const [first = ""] = address;
  return `${first}…${address.slice(address.lastIndexOf("@"))}`;
}
