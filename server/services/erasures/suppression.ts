import type { Db } from "#db/client";
import { suppressions } from "#db/schema/suppressions";
import { newId } from "#server/platform/ids";
import type { ErasurePlace } from "./place";

type Entry = { id: string; address: string; origin: string; listsOnly: boolean };

/**
 * Suppresses an address that is being erased, by its hash. From then on nothing is sent to it, whatever the
 * erasure has reached.
 */
export async function suppressHash(db: Db, entry: { teamId: string; address: string }): Promise<void> {
  await db
    .insert(suppressions)
    .values({ ...entry, id: newId(), origin: "manual" })
    .onConflictDoUpdate({ target: [suppressions.teamId, suppressions.address], set: { listsOnly: false } });
}

/** Replaces the address of the suppression by its hash, so that it stays blocked. */
export const suppressionPlace: ErasurePlace = {
  name: "suppressions",
  async erase(tx, { teamId, eraser, hash }) {
    const entries = await tx<Entry[]>`
      select id, address, origin, lists_only as "listsOnly" from suppressions
      where team_id = ${teamId} and address = any(${[hash, ...eraser.spellings]}::text[])
      order by address collate "C" for update`;
    const open = entries.filter(({ address }) => address !== hash);
    const kept = entries.find(({ address }) => address === hash);
    const [first, ...others] = open;
    if (kept && first)
      await tx`
        update suppressions set origin = case when origin = 'manual' then ${first.origin} else origin end,
          lists_only = ${[kept, ...open].every(({ listsOnly }) => listsOnly)}
        where team_id = ${teamId} and id = ${kept.id}`;
    if (first && !kept)
      await tx`
        update suppressions set address = ${hash}, source_email_id = null,
          lists_only = ${open.every(({ listsOnly }) => listsOnly)}
        where team_id = ${teamId} and id = ${first.id}`;
    const superfluous = kept ? open : others;
    await tx`
      delete from suppressions
      where team_id = ${teamId} and id = any(${superfluous.map(({ id }) => id)}::uuid[])`;
    const counts: Record<string, number> = open.length > 0 ? { suppressions: open.length } : {};
    return { last: null, counts };
  },
};
