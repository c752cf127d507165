import type { DnsPanel } from "#server/mail/dns-panels";

/** Where the browser remembers with which provider its reader edits DNS. */
export const PANEL_COOKIE = "posthorn.dns-panel";

const keptMs = 365 * 24 * 3_600_000;

// Complete by its type: a provider that is added there is missed here by the compiler.
const PANELS: Record<DnsPanel, true> = {
  cloudflare: true,
  route53: true,
  godaddy: true,
  namecheap: true,
  "google-cloud": true,
  squarespace: true,
  hetzner: true,
  ovh: true,
  other: true,
};

export const isPanel = (text: string): text is DnsPanel => Object.hasOwn(PANELS, text);

/** The remembered provider, or the one that stands for any. */
export const readPanel = (text: string | undefined): DnsPanel =>
  text !== undefined && isPanel(text) ? text : "other";

/** Remembers the choice for a year, where the browser may: over plain HTTP from another machine it may not. */
export function keepPanel(panel: DnsPanel): void {
  void window.cookieStore
    ?.set({
      name: PANEL_COOKIE,
      value: panel,
      path: "/console",
      sameSite: "lax",
      expires: Date.now() + keptMs,
    })
    .catch(() => {});
}
