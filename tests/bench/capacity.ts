import { type HotSql, openDatabase } from "#db/client";
import { EMAIL_TABLES } from "#server/delivery/housekeeping/partitions";
import type { Place } from "./bench-database";
import { fillEmails } from "./fill-emails";
import { type Line, plainLine } from "./report";
import { measureWholePath } from "./whole-path";

const emails = Number(process.env.BENCH_MAILS ?? 5_000_000);
/** A short text. Random hexadecimal digits, which PostgreSQL cannot compress. */
const bodyCharacters = 1_024;
const bodiesAtOnce = 100_000;

const PARTS = {
  "content, a text of 1 KiB": "email_bodies",
  "its delivery": "deliveries",
  email: "emails",
  "its two events": "email_events",
} as const satisfies Record<string, (typeof EMAIL_TABLES)[number]["table"]>;

/**
 * What an email with one recipient and a short text takes on the disk, tables with their indexes, and beside
 * so many emails the processor time of another one.
 */
export async function measureCapacity(place: Place): Promise<Line[]> {
  const database = await place.openDatabase();
  const { hot, close } = openDatabase(database.url, { connectionsMax: 1 });
  try {
    await hot.unsafe("set statement_timeout = 0");
    await fillEmails(hot, database.teamId, emails);
    await insertBodies(hot, database.teamId);
    for (const { table } of EMAIL_TABLES) await hot.unsafe(`vacuum analyze ${table}`);
    const lines: Line[] = [];
    let sum = 0;
    for (const [what, table] of Object.entries(PARTS)) {
      const bytes = (await readBytes(hot, table)) / emails;
      sum += bytes;
      lines.push(plainLine(`${what}, of ${emails.toLocaleString("en")}`, formatBytes(bytes)));
    }
    return [...lines, plainLine("all of it", formatBytes(sum)), ...(await measureWholePath(database))];
  } finally {
    await close();
    await database.drop();
  }
}

const formatBytes = (bytes: number) => `${Math.round(bytes).toLocaleString("en")} bytes per email`;

async function insertBodies(hot: HotSql, teamId: string): Promise<void> {
  for (let last = "00000000-0000-0000-0000-000000000000"; ; ) {
    const [row] = await hot<{ last: string | null }[]>`
      with next as materialized (
        select id from emails where team_id = ${teamId} and id > ${last} order by id limit ${bodiesAtOnce}
      ), body as (
        insert into email_bodies (team_id, email_id, text)
        select ${teamId}, id, (select string_agg(md5(id::text || part), '')
          from generate_series(1, ${bodyCharacters / 32}::int) as part) from next
      )
      select (select id from next order by id desc limit 1) as last`;
    if (!row?.last) return;
    last = row.last;
  }
}

async function readBytes(hot: HotSql, table: string): Promise<number> {
  const [row] = await hot<{ bytes: number }[]>`
    select sum(pg_total_relation_size(inhrelid))::float8 as bytes from pg_inherits
    where inhparent = ${table}::text::regclass`;
  return row?.bytes ?? 0;
}
