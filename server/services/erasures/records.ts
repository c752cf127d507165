import type { HotSql } from "#db/client";
import { HAS_MENTION } from "./address-pattern";
import { LOST_LEASE } from "./email-content";
import type { Eraser } from "./mentions";
import { type ErasurePlace, type ErasureStep, rowsOf } from "./place";

/** Rows that one step reads. */
const rowsMax = 1_000;
/** Rows in memory during an export. Some contain bodies. */
const exportedMax = 100;

/** A table in which texts that programs and servers sent can contain an address. */
type RecordTable = {
  name: string;
  /** The primary key after the team. */
  key: readonly string[];
  keyType: "uuid" | "text";
  texts?: readonly string[];
  json?: readonly string[];
  /** JSON that is deleted whole where it contains the address, because the rest is about the same person. */
  bodies?: readonly string[];
  /** Texts with JSON. */
  documents?: readonly string[];
  /** SQL: which rows are read. */
  where?: string;
  /**
   * The column whose id contains the time of the row. Later passes read only new rows, from this column on.
   */
  timed?: string;
  /**
   * The key in later passes, if `key` does not begin with `timed`: they read an index from the first new row
   * on.
   */
  laterKey?: readonly string[];
  /** Whether an attempt in progress must store nothing, because it has the values of before. */
  isLeased?: true;
  /** Whether a row that contains the address is deleted, because it has no other use. */
  isDeleted?: true;
  /** SQL: rows whose key must stay, because a program can still use it. The erasure waits for them. */
  keptWhile?: string;
};

/**
 * The tables beside emails and suppressions. The actions on members and invitations name accounts of the
 * console.
 */
const RECORDS: readonly RecordTable[] = [
  {
    name: "webhook_deliveries",
    key: ["webhook_id", "id"],
    keyType: "uuid",
    json: ["data"],
    documents: ["payload"],
    timed: "id",
    laterKey: ["id"],
    isLeased: true,
  },
  {
    name: "webhook_attempts",
    key: ["delivery_id", "id"],
    keyType: "uuid",
    texts: ["url", "response"],
    json: ["headers"],
    // Attempts of older events were read in the first pass, after their bodies were erased.
    timed: "delivery_id",
  },
  {
    name: "api_requests",
    key: ["id"],
    keyType: "uuid",
    texts: ["path", "user_agent", "rejection_detail"],
    bodies: ["request_body", "response_body"],
    timed: "id",
  },
  {
    name: "idempotency_keys",
    key: ["route", "key"],
    keyType: "text",
    json: ["answer"],
    // Without its record, a repeated request would be accepted as a new one.
    keptWhile: "expires_at > now()",
  },
  {
    name: "audit_log",
    key: ["id"],
    keyType: "uuid",
    texts: ["subject_name"],
    json: ["detail"],
    where: "split_part(action, '.', 1) not in ('member', 'invitation')",
    timed: "id",
  },
  { name: "queue_pauses", key: ["id"], keyType: "uuid", texts: ["reason"] },
  // After the pauses, whose reasons they repeat.
  { name: "alerts", key: ["id"], keyType: "uuid", texts: ["message"] },
];

type Row = Record<string, unknown>;

const columnsOf = ({
  texts = [],
  documents = [],
  json = [],
  bodies = [],
}: Partial<RecordTable>): string[] => [...texts, ...documents, ...json, ...bodies];

/** SQL: the texts of a row in lower case. */
const contentOf = (columns: readonly string[]): string =>
  `lower(concat_ws(' ', ${columns.map((each) => `${each}::text`).join(", ")}))`;

const mapText = (value: unknown, map: (text: string) => string): string | null =>
  value === null ? null : map(String(value));

/** Replaces the address in the rows of one table. */
function placeOf(table: RecordTable): ErasurePlace {
  const { name, keyType, texts = [], json = [], bodies = [], documents = [] } = table;
  const { where, timed, laterKey, isLeased, isDeleted, keptWhile } = table;
  const columns = columnsOf(table);

  /** The new values of the columns, as texts. */
  const eraseRow = ({ eraser }: ErasureStep, row: Row) => [
    ...texts.map((column) => mapText(row[column], eraser.eraseText)),
    ...documents.map((column) =>
      mapText(row[column], (text) => JSON.stringify(eraser.eraseValue(JSON.parse(text)))),
    ),
    ...json.map((column) => mapText(row[column], () => JSON.stringify(eraser.eraseValue(row[column])))),
    ...bodies.map((column) => {
      const body = mapText(row[column], () => JSON.stringify(row[column]));
      return JSON.stringify(eraser.eraseValue(row[column])) === (body ?? "null") ? body : null;
    }),
  ];
  const valuesOf = (row: Row) => [
    ...[...texts, ...documents].map((column) => mapText(row[column], (text) => text)),
    ...[...json, ...bodies].map((column) => mapText(row[column], () => JSON.stringify(row[column]))),
  ];
  const isJson = (column: string) => [...json, ...bodies].includes(column);
  const changes = [
    ...columns.map((column, n) => `${column} = $${n + 1}::text${isJson(column) ? "::jsonb" : ""}`),
    ...(isLeased ? [`lease_token = ${LOST_LEASE}`] : []),
  ].join(", ");

  return {
    name,
    async erase(tx, step) {
      const { teamId, eraser, after, floor } = step;
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
      const content = contentOf([...columns, ...key]);
      const found = await tx.unsafe<Row[]>(
        `select ${[...key, ...columns].join(", ")}, ${keptWhile ?? "false"} as "isKept" from ${name}
         where ${range.join(" and ")} and ${HAS_MENTION(content, `$${given.length + 1}`)} order by ${keys} for update`,
        [...given, eraser.search],
      );
      let count = 0;
      let waitingKeys = 0;
      for (const row of found) {
        const own = key.map((column) => String(row[column]));
        const isInKey = own.some(eraser.hasMention);
        if (isInKey && row.isKept === true) waitingKeys++;
        const values = eraseRow(step, row);
        const isInValues = JSON.stringify(values) !== JSON.stringify(valuesOf(row));
        const isRemoved = (isInKey && row.isKept !== true) || (isInValues && isDeleted);
        // Another address can contain this one.
        if (!isRemoved && !isInValues) continue;
        // A key that contains the address cannot be changed: the caller would no longer find it.
        await (isRemoved
          ? tx.unsafe(`delete from ${name} where team_id = $1 and (${keys}) = ${rowAt(2)}`, [teamId, ...own])
          : tx.unsafe(
              `update ${name} set ${changes}
               where team_id = $${columns.length + 1} and (${keys}) = ${rowAt(columns.length + 2)}`,
              [...values, teamId, ...own] as string[],
            ));
        count++;
      }
      return {
        last: last && JSON.stringify(last),
        counts: count ? { [name]: count } : {},
        ...(keptWhile && { waitingKeys }),
      };
    },
  };
}

/** The rows of these tables that may contain the address, for an export. */
export async function* readRecords(
  hot: HotSql,
  { teamId, eraser }: { teamId: string; eraser: Eraser },
): AsyncGenerator<{ table: string; key: string[]; row: Row }> {
  for (const { name, key, keyType, where, ...table } of RECORDS) {
    const columns = columnsOf(table);
    const keys = key.join(", ");
    const range = `team_id = $1${where ? ` and ${where}` : ""}`;
    for (let after: string[] | null = null; ; ) {
      const from: string = after
        ? ` and (${keys}) > (${key.map((_, n) => `$${n + 2}::${keyType}`).join(", ")})`
        : "";
      const rows: Row[] = await hot.unsafe<Row[]>(
        `select ${keys}, ${columns.join(", ")}, ${HAS_MENTION(contentOf([...columns, ...key]), `$${(after?.length ?? 0) + 2}`)} as "isFound"
         from ${name} where ${range}${from} order by ${keys} limit ${exportedMax}`,
        [teamId, ...(after ?? []), eraser.search],
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
