import type { Header } from "#db/schema/emails";
import type { Marks } from "#server/mail/tracked-html";
import type { RecipientTokens } from "#server/recipient-tokens";

/** What of a mail decides whether and how its copies tell of visits. */
type Tracked = {
  id: string;
  teamId: string;
  tracksOpens?: boolean;
  tracksClicks?: boolean;
  headers: readonly Header[];
};

/**
 * What one recipient's copy carries to tell of its opening and of its links; null where the mail's domain asked for
 * nothing. Links to this installation, and those that the caller's own List-Unsubscribe names, are left alone.
 */
export function marksOf(
  tokens: RecipientTokens,
  { id: emailId, teamId, tracksOpens, tracksClicks, headers }: Tracked,
  deliveryId: string,
): Marks | null {
  if (!tracksOpens && !tracksClicks) return null;
  const copy = { teamId, emailId, deliveryId };
  const untouched = unsubscribeTargets(headers);
  const isUntouched = (target: string) => target.startsWith(`${tokens.origin}/`) || untouched.has(target);
  return {
    linkFor: tracksClicks ? (target) => (isUntouched(target) ? null : tokens.clickLink(copy, target)) : null,
    pixel: tracksOpens ? tokens.openLink(copy) : null,
  };
}

/** The web addresses in the caller's own header (RFC 2369), in the form in which links are compared. */
function unsubscribeTargets(headers: readonly Header[]): Set<string> {
  const own = headers.filter(({ name }) => name.toLowerCase() === "list-unsubscribe");
  const targets = own.flatMap(({ value }) =>
    [...value.matchAll(/<([^<>]*)>/g)].map(([, target = ""]) => target),
  );
  return new Set(targets.filter((target) => URL.canParse(target)).map((target) => new URL(target).href));
}
