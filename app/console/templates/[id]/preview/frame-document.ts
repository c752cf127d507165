/*
 * The HTML of a template is untrusted, and the preview changes with each edit. It is therefore passed to the
 * frame as `srcdoc`: it has no URL that could be opened outside the frame. Three layers isolate it:
 *
 * - `sandbox=""` on the frame: no scripts, no form submission, no navigation of other windows or frames, no
 *   refresh, and an opaque origin.
 * - The policy of the page, which a `srcdoc` document inherits: no script without the nonce of the page, no
 *   frames and no requests to other hosts.
 * - The policy below, which adds restrictions: the page may load from its own host, this document may not.
 *
 * The policy is placed before the template HTML, so the HTML cannot precede or close it. Later policies can
 * only add restrictions.
 */
const POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; base-uri 'none'";

// As in browsers, the document type ends at the first ">", even within quotation marks.
const DOCTYPE = /^\s*<!doctype[^>]*>/i;

/**
 * The attributes of every frame with the HTML of a template. Each document has a frame of its own (`key`): in
 * the same frame, it would be an entry of the browser's history, so Back would not leave the page.
 */
export const FRAME = { sandbox: "", referrerPolicy: "no-referrer" } as const;

/**
 * The document for the sandboxed frame. The author's document type (standards or quirks mode) is preserved.
 */
export function frameDocument(html: string): string {
  const doctype = DOCTYPE.exec(html)?.[0] ?? "";
  return `${doctype}<meta http-equiv="Content-Security-Policy" content="${POLICY}">${html.slice(doctype.length)}`;
}

/** Some proxies truncate or reject longer URLs. */
const hrefCharsMax = 6_000;
const REMOTE_IMAGE = /<(?:img|source|video|input|td|table|body|image)\b[^>]*\bhttps?:|url\(\s*['"]?https?:/i;

type Input = { teamId: string; id: string; revision: number; html: string; values: Record<string, unknown> };

/** The URL of the saved draft with remote images; null if it has none or the values make the URL too long. */
export function imagesHref({ teamId, id, revision, html, values }: Input): string | null {
  if (!REMOTE_IMAGE.test(html)) return null;
  const query = new URLSearchParams({
    team: teamId,
    // The frame loads again after each save.
    revision: String(revision),
    values: JSON.stringify(values),
  });
  const href = `/console/templates/${encodeURIComponent(id)}/body?${query}`;
  return href.length > hrefCharsMax ? null : href;
}
