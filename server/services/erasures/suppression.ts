import { newId } from "#server/platform/ids";
import type { HotTransaction } from "../emails/status";
import { erasedForm } from "../suppressions/erased";
import type { ErasurePlace } from "./place";

type Entry = { id: string; address: string; listsOnly: boolean };

/**
 * Replaces the address of the suppression by its hash, so that it stays blocked. With `suppresses` it is blocked from now on, whether
 * or not it was before.
 */
export const suppressionPlace: ErasurePlace = {
  name: "suppressions",
  async erase(tx, { teamId, eraser, suppresses }) {
    const hash = await hashOf(tx, teamId, eraser.folded);
    const entries = await tx<Entry[]>`
      select id, address, lists_only as "listsOnly" from suppressions
      where team_id = ${teamId} and address = any(${[hash, ...eraser.spellings]}::text[])
      order by address collate "C" for update`;
    const open = entries.filter(({ address }) => address !== hash);
    const kept = entries.find(({ address }) => address === hash);
    if (kept && open.some(({ listsOnly }) => !listsOnly))
      await tx`update suppressions set lists_only = false where team_id = ${teamId} and id = ${kept.id}`;
    const [first, ...others] = open;
    if (first && !kept)
      await tx`
        update suppressions set address = ${hash}, source_email_id = null,
          lists_only = ${open.every(({ listsOnly }) => listsOnly)}
        where team_id = ${teamId} and id = ${first.id}`;
    const superfluous = kept ? open : others;
    await tx`
      delete from suppressions
      where team_id = ${teamId} and id = any(${superfluous.map(({ id }) => id)}::uuid[])`;
    if (suppresses)
      await tx`
        insert into suppressions (team_id, id, address, origin)
        values (${teamId}, ${newId()}, ${hash}, 'manual')
        on conflict (team_id, address) do update set lists_only = false`;
    const counts: Record<string, number> = open.length > 0 ? { suppressions: open.length } : {};
    return { last: null, counts, waiting: [] };
  },
};

async function hashOf(tx: HotTransaction, teamId: string, address: string): Promise<string> {
  const [row] = await tx<{ hash: string | null }[]>`
    select ${tx.unsafe(erasedForm("v.team_id", "v.address"))} as hash
    from (select ${teamId}::uuid as team_id, ${address}::text as address) v`;
  if (!row?.hash) throw new Error("the key of erased addresses is missing");
  return row.hash;
}
