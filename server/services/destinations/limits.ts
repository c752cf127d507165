import { asc, eq, sql } from "drizzle-orm";
import { destinationLimits } from "#db/schema/destination-limits";
import type { Deps } from "#server/deps";
import { AppError } from "#server/errors";

/** The most that a limit can be. */
export const destinationLimitMax = 1_000_000;

/** What a destination is allowed at most, over all workers; null where nothing limits it. */
export type DestinationLimit = {
  domain: string;
  connectionsMax: number | null;
  perMinute: number | null;
  updatedAt: Date;
};

/** Each left as it is, set, or taken away by null. */
export type DestinationLimitChange = { connectionsMax?: number | null; perMinute?: number | null };

/** Every destination with a limit, by its domain. */
export async function listDestinationLimits({ db }: Pick<Deps, "db">): Promise<DestinationLimit[]> {
  return db.select().from(destinationLimits).orderBy(asc(destinationLimits.domain));
}

/**
 * Sets what mail that goes straight to a domain's servers may take of them. Workers heed it with their next claim. A limit
 * that would limit nothing is 422.
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
      throw new AppError("invalid", `That would leave ${domain} without a limit. Unset it instead.`);
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

/** Takes all limits of a destination away. One without is 404. */
export async function unsetDestinationLimit({ db }: Pick<Deps, "db">, domain: string): Promise<void> {
  const [gone] = await db
    .delete(destinationLimits)
    .where(eq(destinationLimits.domain, domain))
    .returning({ domain: destinationLimits.domain });
  if (!gone) throw new AppError("not_found", `${domain} has no limit.`);
}
