import { eq } from "drizzle-orm";
import type { Db } from "#db/client";
import { teams } from "#db/schema/teams";
import { notFound } from "#server/platform/errors";

/**
 * Locks a team's row until the transaction ends. Call it before you count rows that a team may have only a
 * limited number of: concurrent calls wait for each other, so two of them never both use the last place.
 * Accepting email does not wait for it.
 */
export async function lockTeam(tx: Db, teamId: string): Promise<{ name: string }> {
  const [locked] = await tx
    .select({ name: teams.name })
    .from(teams)
    .where(eq(teams.id, teamId))
    .for("no key update");
  if (!locked) throw notFound("Team");
  return locked;
}
