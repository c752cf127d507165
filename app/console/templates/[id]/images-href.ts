/** Some proxies truncate or reject longer URLs. */
const hrefCharsMax = 6_000;
const REMOTE_IMAGE = /<(?:img|source|video|input|td|table|body|image)\b[^>]*\bhttps?:|url\(\s*['"]?https?:/i;

type Input = { teamId: string; id: string; html: string; values: Record<string, string | number> };

/** The URL of the saved draft with remote images; null if it has none or the values make the URL too long. */
export function imagesHref({ teamId, id, html, values }: Input): string | null {
  if (!REMOTE_IMAGE.test(html)) return null;
  const query = new URLSearchParams({ team: teamId, values: JSON.stringify(values) });
  const href = `/console/templates/${encodeURIComponent(id)}/body?${query}`;
  return href.length > hrefCharsMax ? null : href;
}
