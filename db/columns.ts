import { type AnyPgColumn, customType, foreignKey, timestamp } from "drizzle-orm/pg-core";

/** Raw bytes. */
export const bytea = customType<{ data: Uint8Array; driverData: Uint8Array }>({
  dataType: () => "bytea",
});

export const instant = () => timestamp({ withTimezone: true });

/** A time that is never null: by default that of the transaction. */
export const now = () => instant().notNull().defaultNow();

type Key = [AnyPgColumn, AnyPgColumn];

/** References a row of the same team, and is deleted with it. */
export const childOf = (columns: Key, parent: Key) =>
  foreignKey({ columns, foreignColumns: parent }).onDelete("cascade");
