/** Names of the tag in braces: ours and Resend's, Postmark's and that of Amazon SES. */
const NAMES = "(?:RESEND_)?UNSUBSCRIBE_URL|pm:unsubscribe(?:_url)?|amazonSESUnsubscribeUrl";
const NAME = new RegExp(`^(?:${NAMES})$`);

/** Whether this content of `{{…}}` or `{{{…}}}` stands for the recipient's unsubscribe link. */
export const isUnsubscribeName = (content: string): boolean => NAME.test(content);

/**
 * All forms of the tag: those in braces, those of SendGrid, and those of Mailgun. SendGrid's `[unsubscribe]`
 * counts only as the target of a link, also of one that was converted to text, because elsewhere it is
 * ordinary text. White space may be a line break of a converted text.
 */
const TAG = new RegExp(
  [
    `\\{\\{\\{\\s{0,9}(?:${NAMES})\\s{0,9}\\}\\}\\}`,
    `\\{\\{\\s{0,9}(?:${NAMES})\\s{0,9}\\}\\}`,
    "<%\\s{0,9}asm_(?:group_unsubscribe|global_unsubscribe|preferences)_(?:raw_)?url\\s{0,9}%>",
    "(?<=href=[\"']|\\[)\\[[Uu]nsubscribe\\](?=[\"'\\]])",
    "%(?:tag_|mailing_list_)?unsubscribe_url%",
  ].join("|"),
);
const EACH_TAG = new RegExp(TAG, "g");

/** Tags that become a whole link in HTML, unless they are the value of an attribute. */
const WHOLE_LINK = /pm:unsubscribe\s*\}|asm_(?:group_unsubscribe|global_unsubscribe|preferences)_url/;

/** The first tag for an unsubscribe link in these bodies, as it is written; null if they have none. */
export function findUnsubscribeTag(...bodies: (string | null)[]): string | null {
  for (const body of bodies) {
    const [tag] = TAG.exec(body ?? "") ?? [];
    if (tag !== undefined) return tag;
  }
  return null;
}

/** Replaces the tags in a body by the link of one recipient. The link needs no escaping in HTML. */
export const insertUnsubscribeLink = (body: string, link: string, as: "html" | "text"): string =>
  body.replace(EACH_TAG, (tag, at: number) =>
    as === "html" && WHOLE_LINK.test(tag) && !/["'=]/.test(body[at - 1] ?? "")
      ? `<a href="${link}">Unsubscribe</a>`
      : link,
  );
