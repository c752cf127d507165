import type { DnsPanel } from "#server/mail/dns/panels";

/** The cookie that stores the DNS provider of the user. */
export const PANEL_COOKIE = "backstamp.dns-panel";

const maxAgeMs = 365 * 24 * 3_600_000;

/**
 * Stores the choice for one year. Has no effect over plain HTTP (except localhost), where the Cookie Store
 * API is missing.
 */
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
