import type { HotSql } from "#db/client";
import type { Eraser } from "./mentions";
import { type ErasurePlace, rowsOf } from "./place";
import { columnsOf, eraseRow, hasMention, type Row, tableOf, writeRow } from "./rows";
import { TABLES } from "./tables";

/** Rows that one step reads. */
const rowsMax = 1_000;
/** Rows in memory during an export. Some contain bodies. */
const exportedMax = 100;

const RECORDS = Object.keys(TABLES).filter((name) => TABLES[name]?.isRecord);

/** Replaces the address in the rows of one table. */
const placeOf = (name: string): ErasurePlace => ({
  name,
  async erase(tx, step) {
    const { teamId, eraser, after, floor } = step;
    const { where, timed, laterKey, keptWhile, keyType = "uuid", ...table } = tableOf(name);
    const key = (floor !== null && laterKey) || table.key;
    const keys = key.join(", ");
    const rowAt = (first: number) => `(${key.map((_, n) => `$${first + n}::${keyType}`).join(", ")})`;
    const given: string[] = [teamId];
    const range = ["team_id = $1", ...(where ? [where] : [])];
    if (after !== null) {
      range.push(`(${keys}) > ${rowAt(given.length + 1)}`);
      given.push(...(JSON.parse(after) as string[]));
    }
    if (floor !== null && timed) range.push(`${timed} >= $${given.push(floor)}::uuid`);
    const [end] = await tx.unsafe<Row[]>(
      `select ${keys} from ${name} where ${range.join(" and ")} order by ${keys}
       limit 1 offset ${rowsOf(step, rowsMax) - 1}`,
      given,
    );
    const last = end ? key.map((column) => String(end[column])) : null;
    if (last) {
      range.push(`(${keys}) <= ${rowAt(given.length + 1)}`);
      given.push(...last);
    }
    const search = `$${given.length + 1}`;
    const found = await tx.unsafe<Row[]>(
      `select ${[...table.key, ...columnsOf(name, search)].join(", ")}, ${keptWhile ?? "false"} as "isKept" from ${name} c
       where ${range.join(" and ")} and ${hasMention(name, search)} order by ${keys} for update`,
      [...given, eraser.search],
    );
    let count = 0;
    let waitingKeys = 0;
    for (const row of found) {
      const isInKey = table.key.some((column) => eraser.hasMention(String(row[column])));
      if (isInKey && row.isKept === true) waitingKeys++;
      const changes = eraseRow(eraser, name, row);
      // A key that contains the address cannot be changed: the caller would no longer find it.
      const isRemoved = isInKey && row.isKept !== true;
      // Another address can contain this one.
      if (!isRemoved && Object.keys(changes).length === 0) continue;
      await writeRow(tx, name, { teamId, row }, isRemoved ? null : changes);
      count++;
    }
    return {
      last: last && JSON.stringify(last),
      counts: count ? { [name]: count } : {},
      ...(keptWhile && { waitingKeys }),
    };
  },
});

/** The rows of these tables that may contain the address, for an export. */
export async function* readRecords(
  hot: HotSql,
  { teamId, eraser }: { teamId: string; eraser: Eraser },
): AsyncGenerator<{ table: string; key: string[]; row: Row }> {
  for (const name of RECORDS) {
    const { key, keyType = "uuid", where } = tableOf(name);
    const keys = key.join(", ");
    const range = `team_id = $1${where ? ` and ${where}` : ""}`;
    for (let after: string[] = []; ; ) {
      const from = after.length
        ? ` and (${keys}) > (${key.map((_, n) => `$${n + 2}::${keyType}`).join(", ")})`
        : "";
      const search = `$${after.length + 2}`;
      const rows: Row[] = await hot.unsafe<Row[]>(
        `select ${[...key, ...columnsOf(name, search)].join(", ")}, ${hasMention(name, search)} as "isFound"
         from ${name} c where ${range}${from} order by ${keys} limit ${exportedMax}`,
        [teamId, ...after, eraser.search],
      );
      for (const { isFound, ...row } of rows)
        if (isFound) yield { table: name, key: key.map((column) => String(row[column])), row };
      const last = rows.at(-1);
      if (!last || rows.length < exportedMax) break;
      after = key.map((column) => String(last[column]));
    }
  }
}

export const recordPlaces: readonly ErasurePlace[] = RECORDS.map(placeOf);
