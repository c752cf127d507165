import { openDatabase } from "#db/client";
import { buildDeps } from "#server/boot/deps";
import type { Ctx } from "#server/deps";
import { silentLog } from "#server/log";
import type { EmailFilter } from "#server/services/emails/filter";
import { readHolds } from "#server/services/emails/holds";
import { lookForEmails } from "#server/services/emails/list";
import { getEmail } from "#server/services/emails/read";
import { readDays, readHours } from "#server/services/overview/days";
import { listFailures } from "#server/services/overview/failures";
import { readPace, readQueue } from "#server/services/overview/pace";
import { fillMails, RARE, USUAL } from "./fill-mails";
import { medianOf, medianRatio, runInTurns } from "./measure";
import { type Place, settingsFor } from "./place";
import { judgedLine, type Line, milliseconds, toldLine } from "./report";

const few = 1_000;
/** A million takes minutes to write down; fewer show whether the part works. */
const many = Number(process.env.BENCH_MAILS ?? 1_000_000);
const pageRows = 25;
const asksPerRun = 20;
const dayMs = 86_400_000;

/** Pages of the list that an index finds, or that fill at once. */
const PAGES: Record<string, EmailFilter> = {
  "the first page": {},
  "a status that most have": { status: "delivered" },
  "a status that few have": { status: "bounced" },
  "a key that most have": { apiKeyId: USUAL.key },
  "a recipient": { recipient: RARE.to },
  "a tag that many have": { tag: { name: "kind", value: "news" } },
  "a tag that few have": { tag: { name: "kind", value: "rare" } },
  "words that many have": { words: "order" },
  "status, key and domain": { status: "bounced", apiKeyId: USUAL.key, domain: USUAL.domain },
};

/**
 * Pages that are looked for among the newest mails, so many and no more: an index for each would cost every mail that is
 * accepted, and again each time that it changes its state. They take longer than among a thousand, and no longer among
 * ten million than among one.
 */
const LOOKED_FOR: Record<string, EmailFilter> = {
  "a key that few have": { apiKeyId: RARE.key },
  "a domain that few have": { domain: RARE.domain },
  "words that no mail has": { words: "nobody has these" },
};

/** What the console asks of the database, beside a million mails and beside a thousand: it must not be felt. */
export async function measureConsole(place: Place): Promise<Line[]> {
  const [small, large] = [await openFilled(place, few), await openFilled(place, many)];
  try {
    const asked = Object.keys(small.asks);
    const lines: Line[] = [];
    for (const name of asked) {
      const run = (filled: typeof small) => async () => timeAsks(filled.asks[name]);
      const took = await runInTurns({ many: run(large), few: run(small) }, 3);
      lines.push(
        judgedLine({
          what: `${name}, of ${many.toLocaleString("en")} mails`,
          measured: milliseconds(medianOf(took.many)),
          floor: `of ${few.toLocaleString("en")}: ${milliseconds(medianOf(took.few))}`,
          ratio: medianRatio(took.many, took.few),
          budget: { atMost: 2 },
        }),
      );
    }
    for (const [name, ask] of Object.entries(large.bounded))
      lines.push(
        toldLine(
          `${name}, of ${many.toLocaleString("en")} mails`,
          milliseconds(await timeAsks(ask)),
          `of ${few.toLocaleString("en")}: ${milliseconds(await timeAsks(small.bounded[name]))}`,
        ),
      );
    return lines;
  } finally {
    await small.close();
    await large.close();
  }
}

async function openFilled(place: Place, count: number) {
  const database = await place.openDatabase();
  const { hot, close } = openDatabase(database.url, { connectionsMax: 2 });
  const built = buildDeps(settingsFor(database.url), { log: silentLog, connectionsMax: 4 });
  const ctx: Ctx = {
    ...built.deps,
    teamId: database.teamId,
    actor: { kind: "operator" },
    requestId: "bench",
  };
  await fillMails(hot, database.teamId, count);
  const middle = await middleOf(ctx, count);
  // Whoever looks first counts in what no worker has counted.
  for (let counted = false; !counted; ) counted = (await readDays(ctx, 30)).isComplete;
  const look = (filter: EmailFilter, after?: string) => () =>
    lookForEmails(ctx, { ...filter, ...(after && { after }), limit: pageRows });
  const aroundMiddle = {
    since: new Date(ctx.clock().getTime() - 16 * dayMs),
    until: new Date(ctx.clock().getTime() - 15 * dayMs),
  };
  const asks: Record<string, () => Promise<unknown>> = {
    ...Object.fromEntries(Object.entries(PAGES).map(([name, filter]) => [name, look(filter)])),
    "a page in the middle": look({}, middle),
    "a page of a day in the middle": look(aroundMiddle),
    "one mail by its id": look({ id: middle }),
    "one mail, whole": () => Promise.all([getEmail(ctx, middle), readHolds(ctx, middle)]),
    "the overview's month": () => readDays(ctx, 30),
    "the overview's queue and failures": () => Promise.all([readQueue(ctx), listFailures(ctx, 6)]),
  };
  // Those read so many of the newest and no more, which a thousand mails are not.
  const bounded: Record<string, () => Promise<unknown>> = {
    ...Object.fromEntries(Object.entries(LOOKED_FOR).map(([name, filter]) => [name, look(filter)])),
    "the overview's delivery time": () => readPace(ctx, new Date(0)),
    "the overview's hours": () => readHours(ctx),
  };
  return {
    ctx,
    asks,
    bounded,
    close: async () => {
      await close();
      await built.close();
      await database.drop();
    },
  };
}

async function middleOf(ctx: Ctx, count: number): Promise<string> {
  const [row] = await ctx.hot<{ id: string }[]>`
    select id from emails where team_id = ${ctx.teamId} order by id offset ${Math.floor(count / 2)} limit 1`;
  if (!row) throw new Error("There is no mail in the middle.");
  return row.id;
}

async function timeAsks(ask: (() => Promise<unknown>) | undefined): Promise<number> {
  const tookMs: number[] = [];
  for (let n = 0; n < asksPerRun; n++) {
    const startedMs = performance.now();
    await ask?.();
    tookMs.push(performance.now() - startedMs);
  }
  return medianOf(tookMs);
}
