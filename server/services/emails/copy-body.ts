import { addTracking, type Marks } from "#server/mail/mime/tracked-html";
import { insertUnsubscribeLink } from "#server/shared/text/unsubscribe-tags";

/** What only the body of one recipient's copy contains. */
export type CopyParts = {
  /** The https link by which the recipient unsubscribes. It replaces the tags for it. */
  unsubscribeLink?: string;
  /** The tracking links and the pixel in its HTML. */
  marks?: Marks;
};

/** The body of one recipient's copy. The link is inserted first, because tracking leaves our own links. */
export function copyBody(body: string, as: "html" | "text", { unsubscribeLink, marks }: CopyParts): string {
  const linked = unsubscribeLink === undefined ? body : insertUnsubscribeLink(body, unsubscribeLink, as);
  return as === "html" && marks ? addTracking(linked, marks) : linked;
}
