import type { Ctx } from "#server/deps";
import { listDelayCauses } from "#server/services/emails/change/delay-causes";
import type { EmailFilter } from "#server/services/emails/read/filter";
import { scanEmails } from "#server/services/emails/read/list";
import { getEmail } from "#server/services/emails/read/read";
import { getDeliveryTimes, getQueue, listFailures } from "#server/services/overview/queue";
import { getTraffic, lastDays } from "#server/services/overview/traffic";
import type { Place } from "./bench-database";
import { COMMON, fillEmails, RARE } from "./fill-emails";
import { compareSides, medianMs } from "./measure";
import { type Line, milliseconds, plainLine } from "./report";

const few = 1_000;
/** Inserting a million takes minutes; fewer show whether the part works. */
const many = Number(process.env.BENCH_MAILS ?? 1_000_000);
const pageRows = 25;
const dayMs = 86_400_000;

/** Pages of the list that an index finds, or that fill immediately. */
const PAGES: Record<string, EmailFilter> = {
  "the first page": {},
  "a status that most have": { status: ["delivered"] },
  "a status that few have": { status: ["bounced"] },
  "a key that most have": { key: COMMON.key },
  "a recipient": { recipient: RARE.to },
  "a tag that many have": { tag: { name: "kind", value: "news" } },
  "a tag that few have": { tag: { name: "kind", value: "rare" } },
  "words that many have": { words: "order" },
  "status, key and domain": { status: ["bounced"], key: COMMON.key, domain: COMMON.domain },
};

/**
 * Pages for which a search compares a bounded number of the newest emails: longer than among a thousand
 * emails, and not longer among ten million than among one.
 */
const SEARCHED: Record<string, EmailFilter> = {
  "a key that few have": { key: RARE.key },
  "a domain that few have": { domain: RARE.domain },
  "words that no email has": { words: "words without a match" },
};

/**
 * The console's queries with a million emails, beside the same with a thousand: it must not be noticeable.
 */
export async function measureConsole(place: Place): Promise<Line[]> {
  const [small, large] = [await openFilled(place, few), await openFilled(place, many)];
  try {
    const what = (name: string) => `${name}, of ${many.toLocaleString("en")} emails`;
    const beside = `of ${few.toLocaleString("en")}`;
    const lines: Line[] = [];
    for (const name of Object.keys(small.asks))
      lines.push(
        await compareSides({
          what: what(name),
          measured: () => timeOf(large.asks[name]),
          reference: () => timeOf(small.asks[name]),
          beside,
          format: milliseconds,
          budget: { atMost: 2 },
        }),
      );
    for (const [name, ask] of Object.entries(large.bounded)) {
      const [took, reference] = [await timeOf(ask), await timeOf(small.bounded[name])];
      lines.push(plainLine(what(name), milliseconds(took), `${beside}: ${milliseconds(reference)}`));
    }
    return lines;
  } finally {
    await small.close();
    await large.close();
  }
}

async function openFilled(place: Place, count: number) {
  const { ctx, hot, teamId, drop } = await place.openDatabase();
  await fillEmails(hot, teamId, count);
  const middle = await middleOf(ctx, count);
  // The first reader counts what no worker has counted.
  const traffic = (days: number) => getTraffic(ctx, lastDays(ctx, days), {});
  for (let counted = false; !counted; ) counted = (await traffic(30)).isComplete;
  const look = (filter: EmailFilter, after?: string) => () =>
    scanEmails(ctx, { ...filter, ...(after && { after }), limit: pageRows });
  const aroundMiddle = {
    since: new Date(ctx.clock().getTime() - 16 * dayMs),
    until: new Date(ctx.clock().getTime() - 15 * dayMs),
  };
  const asks: Record<string, () => Promise<unknown>> = {
    ...Object.fromEntries(Object.entries(PAGES).map(([name, filter]) => [name, look(filter)])),
    "a page in the middle": look({}, middle),
    "a page of a day in the middle": look(aroundMiddle),
    "one email by its id": look({ id: middle }),
    "one email, complete": () => Promise.all([getEmail(ctx, middle), listDelayCauses(ctx, middle)]),
    "the overview's month": () => traffic(30),
    "the overview's hours": () => traffic(1),
    "the overview's queue and failures": () => Promise.all([getQueue(ctx), listFailures(ctx, 6)]),
  };
  // These read a bounded number of the newest emails, and a thousand is fewer.
  const bounded: Record<string, () => Promise<unknown>> = {
    ...Object.fromEntries(Object.entries(SEARCHED).map(([name, filter]) => [name, look(filter)])),
    "the overview's delivery time": () => getDeliveryTimes(ctx, new Date(0)),
  };
  return { asks, bounded, close: drop };
}

async function middleOf(ctx: Ctx, count: number): Promise<string> {
  const [row] = await ctx.hot<{ id: string }[]>`
    select id from emails where team_id = ${ctx.teamId} order by id offset ${Math.floor(count / 2)} limit 1`;
  if (!row) throw new Error("There is no email in the middle.");
  return row.id;
}

const timeOf = (ask: (() => Promise<unknown>) | undefined) => medianMs(async () => ask?.());
