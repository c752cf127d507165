import { openDatabase } from "#db/client";
import { firstIdAt, splitPartition } from "#db/partitions";
import { EMAIL_TABLES } from "#server/delivery/housekeeping/partitions";
import type { Ctx } from "#server/deps";
import { silentLog } from "#server/platform/log";
import type { EmailFilter } from "#server/services/emails/read/filter";
import { scanEmails } from "#server/services/emails/read/list";
import { createTeam } from "#server/services/teams";
import { buildDeps } from "#server/startup/deps";
import { openReadCounter } from "../support/database/buffer-reads";
import { fillSearch, SEARCHED } from "../support/database/fill-search";
import { type Place, settingsFor } from "./bench-database";
import { medianOf } from "./measure";
import { comparedLine, type Line, milliseconds } from "./report";

const few = 200_000;
/**
 * The time to insert them is most of an hour, so this part runs only by its name. Fewer show whether it
 * works.
 */
const many = Number(process.env.BENCH_MAILS ?? 20_000_000);
const pageRows = 25;
const runs = 5;
/** A hundred times as many emails may cost this many times as many reads. */
const ratioMax = 3;
/**
 * As few reads are fine for any number of emails: 20 million have twenty of a rare kind, and a page reads
 * them all.
 */
const buffersFew = 1_000;
/**
 * Rows that sequential scans may read, of tiny tables: only emails to the rare recipient have a delivery
 * here.
 */
const seqRowsMax = 100;
const dayMs = 86_400_000;
/** Partitions as an installation with as many emails has them: about three million each. */
const [filledDays, daysPerPartition] = [90, 14];

const SEARCHES: Record<string, EmailFilter> = {
  "a common word": { words: "order" },
  "a rare word": { words: "zebra" },
  "a word that only the older half has": { words: "newsletter" },
  "two common words that few have both": { words: "open paid" },
  "a word that no email has": { words: "nothing" },
  "a number beside a common word": { words: "order 12345" },
  "a recipient": { recipient: SEARCHED.rareRecipient },
  "a rare domain of recipients": { recipientDomain: "rare.example" },
  "a rare sender": { sender: "ann@sender.example" },
  "a rare domain of senders": { domain: "sender.example" },
  "a common tag": { tag: { name: "kind" } },
  "a rare tag": { tag: { name: "kind", value: "rare" } },
  "a common key": { apiKeyId: SEARCHED.commonKey },
  "a rare key": { apiKeyId: SEARCHED.rareKey },
};

/** A page of each search among 20 million emails: what PostgreSQL reads for it, beside the same among few. */
export async function measureSearch(place: Place): Promise<Line[]> {
  const small = await measureFilled(place, few);
  const large = await measureFilled(place, many);
  return Object.keys(SEARCHES).flatMap((name) => {
    const [one, other] = [large.get(name), small.get(name)];
    if (!one || !other) return [];
    const format = ({ buffers, tookMs }: Reads) =>
      `${buffers.toLocaleString("en")} buffers, ${milliseconds(tookMs)}`;
    const line = comparedLine({
      what: `${name}, of ${many.toLocaleString("en")} emails`,
      measured: format(one),
      floor: `of ${few.toLocaleString("en")}: ${format(other)}`,
      ratio: one.buffers / other.buffers,
      budget: { atMost: ratioMax },
    });
    if (one.buffers <= buffersFew) line.isMet = true;
    return one.seqRows <= seqRowsMax
      ? line
      : { ...line, measured: `${line.measured}, ${one.seqRows} rows without an index`, isMet: false };
  });
}

type Reads = { buffers: number; seqRows: number; tookMs: number };

async function measureFilled(place: Place, count: number): Promise<Map<string, Reads>> {
  const database = await place.openDatabase();
  const { hot, close } = openDatabase(database.url, { connectionsMax: 1 });
  const built = buildDeps(settingsFor(database.url), { log: silentLog, connectionsMax: 2 });
  const { teamId } = database;
  const ctx: Ctx = { ...built.deps, teamId, actor: { kind: "operator" }, requestId: "bench" };
  const counter = openReadCounter(database.url, ctx);
  try {
    const other = await createTeam(built.deps, { name: "Other" });
    for (let days = filledDays - daysPerPartition; days > -daysPerPartition; days -= daysPerPartition)
      for (const table of EMAIL_TABLES)
        if (await splitPartition(hot, table, firstIdAt(Date.now() - days * dayMs)))
          throw new Error(`A partition of ${table.table} was not divided.`);
    await fillSearch(hot, teamId, other.id, count);
    const measured = new Map<string, Reads>();
    for (const [name, filter] of Object.entries(SEARCHES)) {
      const look = (on: Ctx) => scanEmails(on, { limit: pageRows, ...filter });
      const { buffers, seqRows } = await counter.countReads(look);
      const tookMs: number[] = [];
      for (let run = 0; run < runs; run++) {
        const startedMs = performance.now();
        await look(ctx);
        tookMs.push(performance.now() - startedMs);
      }
      measured.set(name, { buffers, seqRows, tookMs: medianOf(tookMs) });
    }
    return measured;
  } finally {
    await counter.close();
    await built.close();
    await close();
    await database.drop();
  }
}
