import { asc, inArray, lte, sql } from "drizzle-orm";
import type { Db } from "./client";
import { domains } from "./schema/domains";

/**
 * Takes up to `limit` domains whose next look is due, the longest due first, by one statement. Their next look is put off
 * by the lease: whoever looks sets the true time, and if he dies they come due again.
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
