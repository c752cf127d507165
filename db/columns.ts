import { type SQL, sql } from "drizzle-orm";
import { type AnyPgColumn, customType, foreignKey, timestamp } from "drizzle-orm/pg-core";

/** Raw bytes. */
export const bytea = customType<{ data: Uint8Array; driverData: Uint8Array }>({
  dataType: () => "bytea",
});

/** Periods of time, which do not overlap; the last one can be open. */
export const periods = customType<{ data: string }>({ dataType: () => "tstzmultirange" });

export const instant = () => timestamp({ withTimezone: true });

/** A time that is never null: by default that of the transaction. */
export const now = () => instant().notNull().defaultNow();

/** An address in the form in which it is compared, as `foldAddress` does it in code. */
export const folded = (address: AnyPgColumn | string): SQL => sql`lower(${address})`;

/** Whether a column has this address, in any letter case. */
export const isAddress = (column: AnyPgColumn, address: string): SQL =>
  sql`${folded(column)} = ${folded(address)}`;

type Key = [AnyPgColumn, AnyPgColumn];

/** References a row of the same team, and is deleted with it. */
export const childOf = (columns: Key, parent: Key) =>
  foreignKey({ columns, foreignColumns: parent }).onDelete("cascade");
