import { z } from "zod";
import { readDiagnostic } from "../bounce/diagnostic";
import { withoutType } from "../bounce/fields";
import { cleanText, type Reply, readReply } from "../outcome";

/** A text where the provider gives one: anything else counts as none, for its documentation promises little. */
export const Said = z.string().max(20_000).nullish().catch(null);

/** Several of them. */
export const AllSaid = z.array(z.string().max(20_000)).max(1_000).catch([]);

const NOTHING: Reply = { code: null, enhanced: null, text: "" };

/** What a server said in refusing, of `smtp; 550 5.1.1 …` too. `status` is the enhanced code that stands beside it. */
export function refusalOf(text: string | null | undefined, status: string | null | undefined): Reply {
  const typed = withoutType(text ?? "");
  return readDiagnostic(typed.type === "smtp" ? typed.value : (text ?? ""), status ?? null);
}

/** What a server said in taking it. */
export const replyOf = (text: string | null | undefined): Reply => (text ? readReply(text) : NOTHING);

/** A refusal of the provider's own, in which no server said anything. */
export const wordsOf = (text: string | null | undefined): Reply => ({
  ...NOTHING,
  text: cleanText(text ?? ""),
});

/** The same refusal with the enhanced code that the provider's own word for it stands for, where the server gave none. */
export const withCode = (reply: Reply, enhanced: string | undefined): Reply =>
  reply.enhanced === null && enhanced !== undefined ? { ...reply, enhanced } : reply;

/** A host's name or address, of `dns; mx.example.com` too; null for anything else. */
export const hostOf = (text: string | null | undefined): string | null => {
  const typed = withoutType(text ?? "");
  return /^[\w.:-]{1,255}$/.exec(typed.type === "dns" ? typed.value : (text ?? ""))?.[0] ?? null;
};

/** An id of a provider's, all of which are plain words; null for anything else. */
export const idOf = (text: string | null | undefined): string | null =>
  /^[\x21-\x7e]{1,300}$/.exec(text ?? "")?.[0] ?? null;

/** A Message-ID without its brackets; null for what is none. */
export const messageIdOf = (text: string | null | undefined): string | null =>
  /^<?([\x21-\x3b\x3d\x3f\x41-\x7e]{1,250}@[\x21-\x3b\x3d\x3f\x41-\x7e]{1,250})>?$/.exec(
    text?.trim() ?? "",
  )?.[1] ?? null;

/** A time as ISO 8601 or in seconds since 1970; null where it is neither. */
export function timeOf(value: unknown): Date | null {
  const at =
    typeof value === "number" ? new Date(value * 1_000) : typeof value === "string" ? new Date(value) : null;
  return at && Number.isFinite(at.getTime()) ? at : null;
}
