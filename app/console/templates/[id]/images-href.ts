/** Longer addresses are cut off or refused on the way by some proxies. */
const hrefCharsMax = 6_000;
const REMOTE_IMAGE = /<(?:img|source|video|input|td|table|body|image)\b[^>]*\bhttps?:|url\(\s*['"]?https?:/i;

type Wanted = { teamId: string; id: string; html: string; values: Record<string, string | number> };

/** Where the saved draft is shown with pictures of other hosts; null where it asks for none, or the values are too long. */
export function imagesHref({ teamId, id, html, values }: Wanted): string | null {
  if (!REMOTE_IMAGE.test(html)) return null;
  const query = new URLSearchParams({ team: teamId, values: JSON.stringify(values) });
  const href = `/console/templates/${encodeURIComponent(id)}/body?${query}`;
  return href.length > hrefCharsMax ? null : href;
}
