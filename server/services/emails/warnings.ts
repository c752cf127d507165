import { findUnsubscribeTag } from "#server/shared/text/unsubscribe-tags";
import type { Email } from "#server/shared/wire/email";

/** Words of a visible unsubscribe link of the sender's own, in the languages of most email. */
const OWN_LINK =
  /unsubscri|opt[ -]?out|preferences|abmeld|abbestell|d[eé]sabonn|d[eé]sinscri|(?:de|dar|dese) (?:de )?baja|suscripci|descadastr|cancelar|disiscri|cancella|uitschrij|afmeld|avmeld|avregistrer|avprenumer|wypis|rezygn|отпис|отказаться|配信停止|退订|退訂|수신거부/i;

/**
 * What is probably a mistake in an email that is accepted all the same. An email without content, because it
 * was erased, has no warnings about its content.
 */
export function listWarnings({
  headers,
  listUnsubscribe,
  html,
  text,
}: Pick<Email, "headers" | "listUnsubscribe" | "html" | "text">): string[] {
  const headerOf = (wanted: string) => headers.find(({ name }) => name.toLowerCase() === wanted)?.value;
  const isPostUseless =
    headerOf("list-unsubscribe-post") !== undefined && !/<https:/i.test(headerOf("list-unsubscribe") ?? "");
  const tag = findUnsubscribeTag(html, text);
  const isLinkHidden =
    listUnsubscribe && (html || text) && tag === null && !OWN_LINK.test(`${html ?? ""}\n${text ?? ""}`);
  return [
    isPostUseless &&
      "The header List-Unsubscribe-Post has no effect without an https URL in List-Unsubscribe (RFC 8058). Add the URL, or replace both headers by `list_unsubscribe`.",
    isLinkHidden &&
      "The content has no visible unsubscribe link, which Gmail and Yahoo require. Add the tag {{UNSUBSCRIBE_URL}}.",
    !listUnsubscribe &&
      tag !== null &&
      `The tag ${tag} is sent as text, because \`list_unsubscribe\` is false.`,
  ].filter((warning) => typeof warning === "string");
}
