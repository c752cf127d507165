import { drizzle } from "drizzle-orm/postgres-js";
import postgres from "postgres";
import type { Db } from "#db/client";

/** A connection that records every statement that services send on it. */
export function openStatementLog(url: string): { db: Db; statements: string[]; close(): Promise<void> } {
  const statements: string[] = [];
  const sql = postgres(url, { max: 4, onnotice: () => {} });
  const logger = { logQuery: (query: string) => void statements.push(query) };
  return {
    db: drizzle(sql, { casing: "snake_case", logger }) as unknown as Db,
    statements,
    close: () => sql.end(),
  };
}
