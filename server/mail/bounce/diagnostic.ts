import { cleanText, parseSmtpReply, type Reply } from "../outcome";

const textCharsMax = 4_000;
const ENHANCED = /(?<![\d.])([245]\.\d{1,3}\.\d{1,3})(?![\d.])/;
/** A reply code at the start, or after the words that servers use to quote another server's reply. */
const QUOTED_CODE =
  /(?:^|said: ?|said ?\(|<<< |response:? ?|error: ?|returned: ?|returned was: ?|answered: ?|\]: ?|\): ?|: |#)([45]\d\d)(?=[ -]|$)/i;

/**
 * Extracts the SMTP reply from a diagnostic text; words before the first reply code are skipped. `status` is
 * the enhanced code from the report's Status field. An enhanced code inside the text takes precedence,
 * because it comes from the server that rejected the message.
 */
export function parseDiagnostic(text: string, status: string | null): Reply {
  const diagnostic = text.slice(0, textCharsMax).replace(/\s+/g, " ").trim();
  const match = QUOTED_CODE.exec(diagnostic);
  const at = match?.[1] === undefined ? -1 : match.index + match[0].length - match[1].length;
  const reply =
    at === -1
      ? { code: null, enhanced: null, text: cleanText(diagnostic) }
      : parseSmtpReply(diagnostic.slice(at));
  const inText = reply.enhanced ?? ENHANCED.exec(diagnostic)?.[1] ?? null;
  return { ...reply, enhanced: inText ?? parseStatus(status) };
}

/** The enhanced code in a Status field; a comment may follow it. */
export const parseStatus = (status: string | null): string | null =>
  ENHANCED.exec(status?.slice(0, 200) ?? "")?.[1] ?? null;
