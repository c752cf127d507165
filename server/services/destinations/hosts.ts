import { asc, eq } from "drizzle-orm";
import type { HotSql } from "#db/client";
import { destinationHosts } from "#db/schema/deliveries";
import { runPrepared } from "#db/statement";
import type { Deps } from "#server/deps";
import { AppError } from "#server/platform/errors";

export type DestinationHost = typeof destinationHosts.$inferSelect;

/** The MX hosts, and the domains of MX hosts, that the operator added to destinations, by name. */
export async function listDestinationHosts({ db }: Pick<Deps, "db">): Promise<DestinationHost[]> {
  return db
    .select()
    .from(destinationHosts)
    .orderBy(asc(destinationHosts.destination), asc(destinationHosts.host));
}

/**
 * Declares that this MX host, and all below its name, belong to a destination. Workers apply it within 20
 * seconds.
 */
export async function addDestinationHost(
  { db }: Pick<Deps, "db">,
  entry: DestinationHost,
): Promise<DestinationHost> {
  const { destination } = entry;
  await db
    .insert(destinationHosts)
    .values(entry)
    .onConflictDoUpdate({ target: destinationHosts.host, set: { destination } });
  return entry;
}

/** Removes a host that the operator added. 404 if it was not added. */
export async function removeDestinationHost(
  { db }: Pick<Deps, "db">,
  host: string,
): Promise<DestinationHost> {
  const [removed] = await db.delete(destinationHosts).where(eq(destinationHosts.host, host)).returning();
  if (!removed) throw new AppError("not_found", `${host} was not added to a destination.`);
  return removed;
}

/** Destinations by the added hosts, for workers. */
export async function readDestinationHosts(hot: HotSql): Promise<Map<string, string>> {
  const rows = await runPrepared<DestinationHost>(hot, "select host, destination from destination_hosts", []);
  return new Map(rows.map(({ host, destination }) => [host, destination]));
}
