import type { HotSql } from "#db/client";
import type { HotTransaction } from "../emails/status";
import { type Eraser, HAS_MENTION } from "./mentions";
import { type EraseStep, type ErasureStep, rowsOf } from "./place";
import { columnsOf, eraseRow, hasMention, type Row, tableOf, writeRow } from "./rows";
import { TABLES } from "./tables";

/** Rows that one step reads. */
const rowsMax = 1_000;
/** Rows in memory during an export. Some contain bodies. */
const exportedMax = 100;

/** The tables with searched columns that do not belong to an email. */
const RECORDS = Object.keys(TABLES).filter((name) => TABLES[name]?.key && TABLES[name].own === undefined);

type Page = Pick<ErasureStep, "teamId" | "eraser" | "after" | "floor"> & { limit: number };

/** The rows among the next `limit` that may contain the address, and the last key that was read. */
async function readPage(
  sql: Pick<HotTransaction, "unsafe">,
  name: string,
  { teamId, eraser, after, floor, limit }: Page,
  lock: "for update" | "" = "",
): Promise<{ found: Row[]; last: string | null }> {
  const { where, timed, laterKey, keptWhile = "false", keyType = "uuid", ...table } = tableOf(name);
  const key = (floor !== null && laterKey) || table.key;
  const keys = key.join(", ");
  const given: string[] = [teamId];
  const place = (values: string[]) =>
    `(${values.map((value) => `$${given.push(value)}::${keyType}`).join(", ")})`;
  const range = ["team_id = $1", ...(where ? [where] : [])];
  if (after !== null) range.push(`(${keys}) > ${place(JSON.parse(after))}`);
  if (floor !== null && timed) range.push(`${timed} >= ${place([floor])}`);
  const [end] = await sql.unsafe<Row[]>(
    `select ${keys} from ${name} where ${range.join(" and ")} order by ${keys} limit 1 offset ${limit - 1}`,
    given,
  );
  const last = end ? key.map((column) => String(end[column])) : null;
  if (last) range.push(`(${keys}) <= ${place(last)}`);
  const search = `$${given.length + 1}`;
  const found = await sql.unsafe<Row[]>(
    `select ${[...table.key, ...columnsOf(name, search)].join(", ")}, ${keptWhile} as "isKept" from ${name} c
     where ${range.join(" and ")} and ${hasMention(name, search)} order by ${keys} ${lock}`,
    [...given, eraser.search],
  );
  return { found, last: last && JSON.stringify(last) };
}

/** Replaces the address in the rows of one table. */
const eraseRecords =
  (name: string): EraseStep =>
  async (tx, step) => {
    const { teamId, eraser } = step;
    const { key, keptWhile } = tableOf(name);
    const { found, last } = await readPage(tx, name, { ...step, limit: rowsOf(step, rowsMax) }, "for update");
    let count = 0;
    let waitingKeys = 0;
    for (const row of found) {
      const isInKey = key.some((column) => eraser.hasMention(String(row[column])));
      if (isInKey && row.isKept) waitingKeys++;
      const changes = eraseRow(eraser, name, row);
      // A key that contains the address cannot be changed: the caller would no longer find it.
      const isRemoved = isInKey && !row.isKept;
      // Another address can contain this one.
      if (!isRemoved && Object.keys(changes).length === 0) continue;
      await writeRow(tx, name, { teamId, row }, isRemoved ? null : changes);
      count++;
    }
    return { last, counts: count ? { [name]: count } : {}, ...(keptWhile && { waitingKeys }) };
  };

export const RECORD_STEPS = Object.fromEntries(RECORDS.map((name) => [name, eraseRecords(name)]));

/** The rows of these tables that may contain the address, for an export. */
export async function* listRecords(
  hot: HotSql,
  { teamId, eraser }: { teamId: string; eraser: Eraser },
): AsyncGenerator<{ table: string; key: string[]; row: Row }> {
  for (const name of RECORDS) {
    let after: string | null = null;
    do {
      const page = { teamId, eraser, after, floor: null, limit: exportedMax };
      const { found, last }: Awaited<ReturnType<typeof readPage>> = await readPage(hot, name, page);
      for (const { isKept: _, ...row } of found)
        yield { table: name, key: tableOf(name).key.map((column) => String(row[column])), row };
      after = last;
    } while (after !== null);
  }
}

/** A template with its texts, those of its current and those of its published version. */
export type FoundTemplate = { id: string; name: string; texts: string[] };

/** The templates that may contain the address in their current or published version. */
export const findTemplates = (
  sql: Pick<HotTransaction, "unsafe">,
  teamId: string,
  { search }: Eraser,
): Promise<FoundTemplate[]> =>
  sql.unsafe<FoundTemplate[]>(
    `select t.id, t.name, array_agg(x.content) as texts
     from templates t join template_versions v on v.team_id = t.team_id and v.id in (t.current_version_id, t.published_version_id)
       cross join lateral concat_ws(' ', v.subject, v.html, v.text, v.sender, v.reply_to::text, v.variables::text) as x(content)
     where t.team_id = $1 and ${HAS_MENTION("lower(x.content)", "$2")} group by t.team_id, t.id order by t.id`,
    [teamId, search],
  );
