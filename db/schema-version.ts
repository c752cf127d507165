import { sql } from "drizzle-orm";
import type { Db } from "./client";
import { isSchemaMissing } from "./faults";
import journal from "./migrations/meta/_journal.json" with { type: "json" };

const newestMs = Math.max(...journal.entries.map(({ when }) => when));

/** Whether the database has every migration of this build. It may have newer ones. */
export async function isMigrated(db: Db): Promise<boolean> {
  try {
    const [row] = await db.execute<{ isMigrated: boolean }>(sql`
      select exists (select from drizzle.__drizzle_migrations where created_at >= ${newestMs}::bigint) as "isMigrated"`);
    return row?.isMigrated === true;
  } catch (error) {
    if (isSchemaMissing(error)) return false;
    throw error;
  }
}
