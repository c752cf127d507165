import { integer, pgTable, text, timestamp, uuid } from "drizzle-orm/pg-core";

/** The heartbeat of whatever drains the queue. A row whose beat is old belongs to a process that is gone. */
export const workers = pgTable("workers", {
  id: uuid().primaryKey(),
  host: text().notNull(),
  pid: integer().notNull(),
  /** `relay`, `capture`, `direct`, or `none` where real recipients wait. */
  transport: text().notNull(),
  startedAt: timestamp({ withTimezone: true }).notNull().defaultNow(),
  beatAt: timestamp({ withTimezone: true }).notNull().defaultNow(),
});
