import type { Details } from "#server/services/system-mail/details";
import { oneLine } from "./one-line";

type Item = Details["alert"]["items"][number];

const EVENTS = { opened: "Alert", reminder: "Still open", resolved: "Resolved" } as const;

/** The email about one alert, or the list of several ones. */
export function alertContent({
  host,
  url,
  settingsUrl,
  items,
  more,
}: { host: string; url: string; settingsUrl: string } & Omit<Details["alert"], "path">) {
  const [first] = items;
  const total = items.length + more;
  const isSingle = first !== undefined && total === 1;
  const heading = isSingle ? headingOf(first) : `${total} alerts at ${host}`;
  return {
    subject: isSingle ? heading : `${heading}: ${summaryOf(items)}`,
    heading,
    paragraphs: [
      ...(isSingle ? textsOf(first) : items.map((item) => `${headingOf(item)}. ${textsOf(item).join(" ")}`)),
      ...(more > 0 ? [`${more} more ${more === 1 ? "alert is" : "alerts are"} in the console.`] : []),
    ],
    action: { label: "Open the console", url },
    afterwards: [
      `You receive alerts of Backstamp at ${host}, because you own or administer a team or operate the installation. To turn them off, open ${settingsUrl}`,
    ],
  };
}

const headingOf = ({ event, title, name, team }: Item): string =>
  `${EVENTS[event]}: ${[title, ...new Set([name, team ?? ""])]
    .filter((part) => part !== "")
    .map(oneLine)
    .join(", ")}`;

/** What happened, and what to do. When it is over, there is nothing to do. */
const textsOf = ({ event, message, toDo }: Item): string[] =>
  event === "resolved" ? [`This is over. It was: ${message}`] : [message, toDo];

function summaryOf(items: readonly Item[]): string {
  const counts = Object.entries(EVENTS).map(([event, word]) => ({
    word: word.toLowerCase(),
    count: items.filter((item) => item.event === event).length,
  }));
  return counts
    .filter(({ count }) => count > 0)
    .map(({ word, count }) => `${count} ${word === "alert" ? "new" : word}`)
    .join(", ");
}
