import type { DnsPanel } from "#server/mail/dns/panels";

/** The cookie that stores the DNS provider of the user. */
export const PANEL_COOKIE = "backstamp.dns-panel";

const maxAgeMs = 365 * 24 * 3_600_000;

// A `Record`: the compiler reports a provider that is missing here.
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

/** The stored provider, or `other`. */
export const readPanel = (text: string | undefined): DnsPanel =>
  text !== undefined && isPanel(text) ? text : "other";

/** Stores the choice for one year. Has no effect over plain HTTP (except localhost), where the Cookie Store API is missing. */
export function savePanel(panel: DnsPanel): void {
  void window.cookieStore
    ?.set({
      name: PANEL_COOKIE,
      value: panel,
      path: "/console",
      sameSite: "lax",
      expires: Date.now() + maxAgeMs,
    })
    .catch(() => {});
}
