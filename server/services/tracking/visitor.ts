import type { Visit } from "#db/schema/events";

type Visitor = Pick<Visit, "by" | "name">;

/**
 * Programs that fetch images or follow links in emails, by user agent; the first match counts.
 *
 * Gmail loads images through a proxy when the reader opens the email
 * (scientiamobile.com/what-is-google-image-proxy), and prefetches them under another user agent if it is open
 * when the email comes in (bird.com/en-gb/blog/gmail-prefetching-images). Apple Mail fetches everything on
 * arrival, read or not, and sends only the first word of a user agent
 * (help.socketlabs.com/docs/identifying-apple-mpp-opens-in-notification-api-events). Mail filters fetch
 * images and links before they deliver the email (github.com/mautic/mautic/issues/9798).
 */
const PROGRAMS: readonly (Visitor & { pattern: RegExp })[] = [
  { by: "proxy", name: "Gmail image proxy", pattern: /GoogleImageProxy/i },
  { by: "proxy", name: "Yahoo Mail proxy", pattern: /YahooMailProxy/i },
  {
    by: "prefetch",
    name: "Gmail prefetch",
    pattern: /Chrome\/42\.0\.2311\.135 Safari\/537\.36 Edge\/12\.246 Mozilla\/5\.0$/,
  },
  { by: "prefetch", name: "Apple Mail Privacy Protection", pattern: /^Mozilla\/5\.0$/ },
  {
    by: "scanner",
    name: "Mail filter",
    pattern: /barracuda|proofpoint|mimecast|trendmicro|symantec|sophos/i,
  },
  {
    by: "scanner",
    name: "Program",
    pattern:
      /(?<!cu)bot\b|crawl|spider|scan(ner|ning)|preview|headless|phantomjs|curl\/|wget|python|libwww|java\/|okhttp|httpclient|go-http|axios|undici|node-fetch|externalhit/i,
  },
];

/**
 * A visit this soon after the hand-over comes from a filter, whatever its user agent says: no reader is that
 * fast.
 */
const scannedWithinMs = 2_000;

/**
 * The kind of visitor, as far as the request shows it. `sentMsAgo` is null if the hand-over is not recorded.
 */
export function visitorOf(
  agent: string | null,
  { isInProgress, sentMsAgo }: { isInProgress: boolean; sentMsAgo: number | null },
): Visitor {
  if (agent === null || agent.trim() === "") return { by: "scanner", name: "Without a name" };
  const program = PROGRAMS.find(({ pattern }) => pattern.test(agent.trim()));
  if (program) return { by: program.by, name: program.name };
  const isTooSoon = isInProgress || (sentMsAgo !== null && sentMsAgo < scannedWithinMs);
  return isTooSoon ? { by: "scanner", name: "Right after delivery" } : { by: "reader", name: null };
}
