import type { Ctx } from "#server/deps";
import { parseMailbox } from "#server/mail/address";
import { addSuppressions } from "./add";

/** What became of pasted text: how many addresses were new, how many were on the list, and what was no address, with why. */
export type Pasted = { added: number; existing: number; refused: { text: string; why: string }[] };

const shownCharsMax = 100;

/** Puts every address of a text on the list, one a line or with commas or semicolons between them. What is none is told. */
export async function addPasted(ctx: Ctx, text: string): Promise<Pasted> {
  const addresses: string[] = [];
  const refused: Pasted["refused"] = [];
  for (const part of text.split(/[\r\n,;]+/)) {
    const given = part.trim();
    if (given === "") continue;
    const read = parseMailbox(given);
    if (read.ok) addresses.push(read.mailbox.address);
    else refused.push({ text: given.slice(0, shownCharsMax), why: read.fault });
  }
  const { ids, added } = await addSuppressions(ctx, addresses);
  return { added: added.length, existing: new Set(ids).size - added.length, refused };
}
