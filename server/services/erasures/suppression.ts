import type { Db } from "#db/client";
import { suppressions } from "#db/schema/suppressions";
import { newId } from "#server/platform/ids";
import type { Counts, EraseStep } from "./place";

/**
 * Suppresses an address that is being erased, by its hash. From then on nothing is sent to it, whatever the
 * erasure has reached.
 */
export async function suppressHash(db: Db, entry: { teamId: string; address: string }): Promise<void> {
  await db
    .insert(suppressions)
    .values({ ...entry, id: newId(), origin: "manual" })
    .onConflictDoUpdate({
      target: [suppressions.teamId, suppressions.address],
      set: { listsOnly: false, lists: null },
    });
}

/** Replaces the address of the suppression by its hash, so that it stays blocked. */
export const eraseSuppression: EraseStep = async (tx, { teamId, eraser, addressHash }) => {
  const entries = await tx<
    Pick<typeof suppressions.$inferSelect, "id" | "address" | "origin" | "listsOnly">[]
  >`
    select id, address, origin, lists_only as "listsOnly" from suppressions
    where team_id = ${teamId} and address = any(${[addressHash, ...eraser.spellings]}::text[])
    order by address collate "C" for update`;
  const open = entries.filter(({ address }) => address !== addressHash);
  const [first] = open;
  const counts: Counts = first ? { suppressions: open.length } : {};
  if (!first) return { last: null, counts };
  const kept = entries.find(({ address }) => address === addressHash) ?? first;
  await tx`
    update suppressions set address = ${addressHash},
      source_email_id = case when address = ${addressHash} then source_email_id end,
      origin = case when origin = 'manual' then ${first.origin} else origin end,
      lists_only = ${entries.every(({ listsOnly }) => listsOnly)},
      lists = case when ${entries.length === 1} then lists end
    where team_id = ${teamId} and id = ${kept.id}`;
  await tx`delete from suppressions where team_id = ${teamId} and address = any(${eraser.spellings}::text[])`;
  return { last: null, counts };
};
