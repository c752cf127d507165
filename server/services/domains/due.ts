import { asc, inArray, lte, sql } from "drizzle-orm";
import type { Db } from "#db/client";
import { domains } from "#db/schema/domains";

/**
 * Claims up to `limit` domains whose next check is due, longest overdue first, in one statement. Each claim
 * moves the next check to the end of the lease. The check then sets the real time; if the worker dies, the
 * domain becomes due again.
 */
export async function claimDueDomains(
  db: Db,
  { limit, leaseMs }: { limit: number; leaseMs: number },
): Promise<{ id: string; teamId: string }[]> {
  const due = db
    .$with("due")
    .as(
      db
        .select({ id: domains.id })
        .from(domains)
        .where(lte(domains.nextCheckAt, sql`now()`))
        .orderBy(asc(domains.nextCheckAt))
        .limit(limit)
        .for("update", { skipLocked: true }),
    );
  return db
    .with(due)
    .update(domains)
    .set({ nextCheckAt: sql`now() + ${leaseMs} * interval '1 ms'` })
    .where(inArray(domains.id, db.select({ id: due.id }).from(due)))
    .returning({ id: domains.id, teamId: domains.teamId });
}
