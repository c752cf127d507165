import type { Ctx } from "#server/deps";
import { parseMailbox } from "#server/mail/address/address";
import { addSuppressions } from "./suppress";

/**
 * The result of pasted text: new addresses, addresses that were on the list already, and invalid ones with
 * the reason.
 */
export type PasteResult = { added: number; existing: number; rejected: { text: string; reason: string }[] };

const excerptCharsMax = 100;

/**
 * Adds all addresses of a text to the suppression list, separated by lines, commas or semicolons. Reports
 * invalid ones.
 */
export async function addPastedSuppressions(ctx: Ctx, text: string): Promise<PasteResult> {
  const addresses: string[] = [];
  const rejected: PasteResult["rejected"] = [];
  for (const part of text.split(/[\r\n,;]+/)) {
    const given = part.trim();
    if (given === "") continue;
    const read = parseMailbox(given);
    if (read.ok) addresses.push(read.mailbox.address);
    else rejected.push({ text: given.slice(0, excerptCharsMax), reason: read.fault });
  }
  const { ids, added } = await addSuppressions(ctx, addresses);
  return { added: added.length, existing: new Set(ids).size - added.length, rejected };
}
