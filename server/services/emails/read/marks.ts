import type { Header } from "#db/schema/emails";
import type { Marks } from "#server/mail/mime/tracked-html";
import { parseUrl } from "#server/platform/egress/parse-url";
import type { RecipientTokens } from "#server/platform/secrets/recipient-tokens";
import type { AcceptedEmail } from "../accept/insert-submissions";

/** The parts of an email that determine which visits its copies record. */
type Tracked = Pick<
  AcceptedEmail,
  "id" | "teamId" | "headers" | "tracksOpens" | "tracksClicks" | "trackingHost"
>;

/**
 * The tracking links and the pixel of one recipient's copy; null if tracking was off for the sender's domain.
 * Links to this installation and the targets of the caller's own List-Unsubscribe header are not changed.
 */
export function marksOf(
  tokens: RecipientTokens,
  { id: emailId, teamId, tracksOpens, tracksClicks, trackingHost: host, headers }: Tracked,
  deliveryId: string,
): Marks | null {
  if (!tracksOpens && !tracksClicks) return null;
  const copy = { teamId, emailId, deliveryId };
  const excluded = unsubscribeTargets(headers);
  const isExcluded = (target: string) => target.startsWith(`${tokens.origin}/`) || excluded.has(target);
  return {
    linkFor: tracksClicks
      ? (target) => (isExcluded(target) ? null : tokens.clickLink(copy, target, host))
      : null,
    pixel: tracksOpens ? tokens.openLink(copy, host) : null,
  };
}

/** The URLs in the caller's own List-Unsubscribe header (RFC 2369), normalized for comparison with links. */
function unsubscribeTargets(headers: readonly Header[]): Set<string> {
  const own = headers.filter(({ name }) => name.toLowerCase() === "list-unsubscribe");
  const targets = own.flatMap(({ value }) =>
    [...value.matchAll(/<([^<>]*)>/g)].map(([, target = ""]) => target),
  );
  return new Set(targets.flatMap((target) => parseUrl(target)?.href ?? []));
}
