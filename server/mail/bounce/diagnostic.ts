import { cleanText, type Reply, readReply } from "../outcome";

const textCharsMax = 4_000;
const ENHANCED = /(?<![\d.])([245]\.\d{1,3}\.\d{1,3})(?![\d.])/;
/** A reply code at the beginning, or behind words with which servers quote each other. */
const QUOTED_CODE =
  /(?:^|said: ?|said ?\(|<<< |response:? ?|error: ?|returned: ?|returned was: ?|answered: ?|\]: ?|\): ?|: |#)([45]\d\d)(?=[ -]|$)/i;

/**
 * The reply in what a server tells of a failure: from the first reply code on, where words of its own stand before it.
 * `status` is the enhanced code that the report gives beside it; one in the text itself is nearer to the server that refused.
 */
export function readDiagnostic(text: string, status: string | null): Reply {
  const said = text.slice(0, textCharsMax).replace(/\s+/g, " ").trim();
  const found = QUOTED_CODE.exec(said);
  const at = found?.[1] === undefined ? -1 : found.index + found[0].length - found[1].length;
  const reply = at === -1 ? { code: null, enhanced: null, text: cleanText(said) } : readReply(said.slice(at));
  const near = reply.enhanced ?? ENHANCED.exec(said)?.[1] ?? null;
  return { ...reply, enhanced: near ?? readStatus(status) };
}

/** The enhanced code in a Status field, which may have a comment behind it. */
export const readStatus = (status: string | null): string | null =>
  ENHANCED.exec(status?.slice(0, 200) ?? "")?.[1] ?? null;
