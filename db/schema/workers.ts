import { integer, pgTable, text, timestamp, uuid } from "drizzle-orm/pg-core";

/** Shared heartbeat row of all delivery rounds started by the cron route, because functions have no long-running process. */
export const TICK_WORKER_ID = "00000000-0000-7000-8000-000000000001";

/** The heartbeats of the workers. A row with an old heartbeat belongs to a process that has exited. */
export const workers = pgTable("workers", {
  id: uuid().primaryKey(),
  host: text().notNull(),
  pid: integer().notNull(),
  /** `relay`, `capture`, `direct`, or `none`, where email to real recipients stays queued. */
  transport: text().notNull(),
  startedAt: timestamp({ withTimezone: true }).notNull().defaultNow(),
  beatAt: timestamp({ withTimezone: true }).notNull().defaultNow(),
});
