import type { Visit } from "#db/schema/events";

type Visitor = Pick<Visit, "by" | "name">;

/**
 * Programs that fetch pictures or follow links of mail, by what they call themselves; the first that fits counts.
 *
 * Gmail shows pictures through a proxy when its reader opens the mail (scientiamobile.com/what-is-google-image-proxy), and
 * fetches them ahead under another name where it is open when the mail comes (bird.com/en-gb/blog/gmail-prefetching-images).
 * Apple Mail fetches everything when the mail comes, read or not, and calls itself by the bare first word
 * (help.socketlabs.com/docs/identifying-apple-mpp-opens-in-notification-api-events). Filters of mail fetch pictures and
 * links before they deliver (github.com/mautic/mautic/issues/9798).
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

/** Nobody reads so fast: what comes so soon after the hand-over is a filter at work, whatever it calls itself. */
const scannedWithinMs = 2_000;

/** Who visits, as far as the request tells. `sentMsAgo` is null where the hand-over is not recorded. */
export function visitorOf(
  agent: string | null,
  { isUnderWay, sentMsAgo }: { isUnderWay: boolean; sentMsAgo: number | null },
): Visitor {
  if (agent === null || agent.trim() === "") return { by: "scanner", name: "Without a name" };
  const program = PROGRAMS.find(({ pattern }) => pattern.test(agent.trim()));
  if (program) return { by: program.by, name: program.name };
  const isTooSoon = isUnderWay || (sentMsAgo !== null && sentMsAgo < scannedWithinMs);
  return isTooSoon ? { by: "scanner", name: "Right after delivery" } : { by: "reader", name: null };
}
