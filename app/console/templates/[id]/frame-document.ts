/*
 * A template's HTML is whatever somebody wrote, and its preview is made anew with each change, so it is given to the frame
 * as `srcdoc` and has no address at which anybody could open it outside the frame. Three things hold it:
 *
 * - `sandbox=""` on the frame: no script runs, no form is sent, no other window or frame is steered, nothing refreshes
 *   itself, and its origin is nobody's.
 * - The page's own policy, which a `srcdoc` document inherits: no script without the page's nonce, no frame and no request
 *   to another host.
 * - The policy below, which only ever takes more away: the page may fetch from its own host, and this document may not.
 *
 * The policy stands before everything that was written, where nothing can precede or close it; a policy that is read later
 * cannot widen it.
 */
const POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; base-uri 'none'";

// As a browser's parser reads it: a document type ends at the first ">", also within quotation marks.
const DOCTYPE = /^\s*<!doctype[^>]*>/i;

/** The document for the sandboxed frame. What it is set in (standards or quirks mode) stays as its author has it. */
export function frameDocument(html: string): string {
  const doctype = DOCTYPE.exec(html)?.[0] ?? "";
  return `${doctype}<meta http-equiv="Content-Security-Policy" content="${POLICY}">${html.slice(doctype.length)}`;
}
