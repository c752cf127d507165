import { integer, pgTable, text, timestamp, uuid } from "drizzle-orm/pg-core";

/** One row of heartbeat for all rounds that something outside calls: a function has no process that lives on. */
export const TICK_WORKER_ID = "00000000-0000-7000-8000-000000000001";

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
