import { asc, eq, sql } from "drizzle-orm";
import { destinationLimits } from "#db/schema/deliveries";
import type { Deps } from "#server/deps";
import { AppError } from "#server/platform/errors";

/** The highest value of a limit. */
export const destinationLimitMax = 1_000_000;

/** The limits of a destination over all workers; null: no limit. */
export type DestinationLimit = typeof destinationLimits.$inferSelect;

/** Omitted: unchanged. Null: the limit is removed. */
export type DestinationLimitChange = { connectionsMax?: number | null; perMinute?: number | null };

/** All destinations with a limit, by domain. */
export async function listDestinationLimits({ db }: Pick<Deps, "db">): Promise<DestinationLimit[]> {
  return db.select().from(destinationLimits).orderBy(asc(destinationLimits.domain));
}

/**
 * Sets the limits for email that is sent directly to a destination, or to the recipients of a domain. Workers
 * apply them within a second. 422 if no limit would remain.
 */
export async function setDestinationLimit(
  { db }: Pick<Deps, "db">,
  domain: string,
  change: DestinationLimitChange,
): Promise<DestinationLimit> {
  return db.transaction(async (tx) => {
    const [before] = await tx
      .select()
      .from(destinationLimits)
      .where(eq(destinationLimits.domain, domain))
      .for("update");
    const { connectionsMax = null, perMinute = null } = { ...before, ...change };
    if (connectionsMax === null && perMinute === null)
      throw new AppError("invalid", `${domain} would have no limit left. Unset its limit instead.`);
    const limit = { connectionsMax, perMinute, updatedAt: sql`now()` };
    const [set] = await tx
      .insert(destinationLimits)
      .values({ domain, ...limit })
      .onConflictDoUpdate({ target: destinationLimits.domain, set: limit })
      .returning();
    if (!set) throw new TypeError("an upsert returned no row");
    return set;
  });
}

/** Removes all limits of a destination. 404 if it has none. */
export async function unsetDestinationLimit({ db }: Pick<Deps, "db">, domain: string): Promise<void> {
  const [deleted] = await db
    .delete(destinationLimits)
    .where(eq(destinationLimits.domain, domain))
    .returning({ domain: destinationLimits.domain });
  if (!deleted) throw new AppError("not_found", `${domain} has no limit.`);
}
