import type { HotTransaction } from "../emails/status";
import { type Eraser, HAS_MENTION, TEXT_OF } from "./mentions";
import { type StoredTable, TABLES, type Treatment } from "./tables";

/** A larger file is not searched. */
const textBytesMax = 1024 * 1024;

/**
 * SQL: the file `f` is a text that is searched. Others are compressed or encoded, such as PDF and office
 * documents.
 */
export const IS_TEXT_FILE = (f: string): string => `(${f}.size_bytes <= ${textBytesMax}
  and ${f}.content_type ~* '^(text/|message/|application/(json|xml|yaml|csv|x-ndjson)|[a-z]+/[^;]+[+](json|xml))')`;

export type Row = Record<string, unknown>;

/** Changed columns with their new values as parameters. */
export type Changes = Record<string, string | Uint8Array | null>;

type Erase = (eraser: Eraser, value: unknown) => unknown;

/** The type of each parameter in SQL, and what becomes of a value. */
const TREATMENTS: Record<Treatment, [sqlType: string, erase: Erase]> = {
  text: ["text", (eraser, value) => eraser.eraseText(String(value))],
  json: ["text::jsonb", (eraser, value) => eraser.eraseValue(value)],
  document: ["text", (eraser, value) => eraser.eraseValue(JSON.parse(String(value)))],
  body: ["text::jsonb", (eraser, value) => (isSame(eraser.eraseValue(value), value) ? value : null)],
  file: ["bytea", (eraser, value) => eraseBytes(eraser, value as Uint8Array)],
  message: [
    "bytea",
    (eraser, value) => (eraser.hasMention(Buffer.from(value as Uint8Array).toString()) ? null : value),
  ],
};

/** The table with this name. */
export function tableOf(name: string): StoredTable & { key: readonly string[] } {
  const { key = [], ...table } = TABLES[name] ?? {};
  return { key, ...table };
}

/** The columns that are searched, with their treatment. */
export const searchedOf = (table: StoredTable): [column: string, how: Treatment][] =>
  (Object.keys(TREATMENTS) as Treatment[]).flatMap((how) =>
    (table[how]?.split(" ") ?? []).map((column): [string, Treatment] => [column, how]),
  );

/** SQL: the row `c` may contain the address. */
export function hasMention(name: string, search: string): string {
  const { key, keyType, ...table } = tableOf(name);
  const keys = keyType === "text" ? key.map((column): [string, Treatment] => [column, "text"]) : [];
  const texts = [...searchedOf(table), ...keys].map(([column, how]) =>
    how === "file"
      ? `case when ${IS_TEXT_FILE("c")} then ${TEXT_OF(`c.${column}`)} end`
      : how === "message"
        ? TEXT_OF(`c.${column}`)
        : `lower(c."${column}"::text)`,
  );
  return HAS_MENTION(`concat_ws(' ', ${texts.join(", ")})`, search);
}

/** SQL: the searched columns of the row `c`. Bytes are read only if they are searched and may contain it. */
export const columnsOf = (name: string, search: string): string[] =>
  searchedOf(tableOf(name)).map(([column, how]) =>
    how === "file" || how === "message"
      ? `case when ${how === "file" ? IS_TEXT_FILE("c") : "true"}
          and strpos(${TEXT_OF(`c.${column}`)}, (${search}::text[])[1]) > 0 then c.${column} end as "${column}"`
      : `c."${column}"`,
  );

/** What changes in a row when the address is replaced. Nothing if a longer address contains it. */
export function eraseRow(eraser: Eraser, name: string, row: Row): Changes {
  const changes: Changes = {};
  for (const [column, how] of searchedOf(tableOf(name))) {
    const value = row[column] ?? null;
    if (value === null) continue;
    const erased = TREATMENTS[how][1](eraser, value);
    if (isSame(erased, how === "document" ? JSON.parse(String(value)) : value)) continue;
    const isText = erased === null || how === "text" || erased instanceof Uint8Array;
    changes[column] = isText ? (erased as Changes[string]) : JSON.stringify(erased);
  }
  return changes;
}

const isSame = (one: unknown, other: unknown): boolean =>
  one === other || JSON.stringify(one) === JSON.stringify(other);

/** Writes the changes of a row, or deletes it (null). */
export async function writeRow(
  tx: HotTransaction,
  name: string,
  { teamId, row }: { teamId: string; row: Row },
  changes: Changes | null,
): Promise<void> {
  const { key, keyType = "uuid", isLeased, ...table } = tableOf(name);
  const where = ["team_id = $1", ...key.map((column, n) => `${column} = $${n + 2}::${keyType}`)].join(
    " and ",
  );
  const keys = [teamId, ...key.map((column) => String(row[column]))];
  if (changes === null) {
    await tx.unsafe(`delete from ${name} where ${where}`, keys);
    return;
  }
  const treatments = new Map(searchedOf(table));
  const set = Object.keys(changes).map((column, n) => {
    const how = treatments.get(column) ?? "text";
    const value = `$${keys.length + n + 1}::${TREATMENTS[how][0]}`;
    return `"${column}" = ${value}${how === "file" ? `, size_bytes = octet_length(${value})` : ""}`;
  });
  if (isLeased) set.push(`lease_token = ${LOST_LEASE}`);
  await tx.unsafe(`update ${name} set ${set.join(", ")} where ${where}`, [
    ...keys,
    ...(Object.values(changes) as string[]),
  ]);
}

/** SQL: the lease token of an event delivery whose attempt in progress must store nothing. */
export const LOST_LEASE = "case when lease_token is not null then gen_random_uuid() end";

/** The bytes of a text without the address. Bytes that are not UTF-8 stay as they are. */
function eraseBytes(eraser: Eraser, content: Uint8Array): Uint8Array {
  const bytes = Buffer.from(content);
  const utf8 = bytes.toString("utf8");
  const encoding = Buffer.from(utf8, "utf8").equals(bytes) ? "utf8" : "latin1";
  const text = bytes.toString(encoding);
  const erased = eraser.eraseText(text);
  return erased === text ? content : Buffer.from(erased, encoding);
}
