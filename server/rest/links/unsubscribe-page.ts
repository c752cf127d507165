const ESCAPES: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};
const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (char) => ESCAPES[char] ?? "");

const STYLE =
  "body{font:1rem/1.5 system-ui,sans-serif;max-width:32rem;margin:15vh auto;padding:0 1rem;color:#1c1917;background:#fff}" +
  "strong{overflow-wrap:anywhere}button{font:inherit;padding:.5rem 1rem;border:0;border-radius:.375rem;background:#1c1917;color:#fff;cursor:pointer}" +
  "@media(prefers-color-scheme:dark){body{color:#f5f5f4;background:#1c1917}button{color:#1c1917;background:#f5f5f4}}";

const pageOf = (title: string, content: string): string =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">` +
  `<meta name="robots" content="noindex"><title>${title}</title><style>${STYLE}</style><main><h1>${title}</h1>${content}</main></html>`;

/** The page that asks the recipient to confirm. Viewing it changes nothing, because programs follow links too. */
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
