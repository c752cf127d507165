import { and, eq, inArray } from "drizzle-orm";
import type { AcceptedMail, AcceptedRecipient } from "#db/accept";
import { BUILT_IN_DOMAIN, domains } from "#db/schema/domains";
import type { SuppressionOrigin } from "#db/schema/suppressions";
import type { Ctx } from "#server/deps";
import type { AppError } from "#server/errors";
import { headersOf, plainTextOf } from "#server/mail/compose";
import { scriptedFate } from "#server/mail/transport/scripted";
import type { Suppression } from "../suppressions/present";
import { findSuppressed } from "../suppressions/read";
import { prepareBatch } from "./batch";
import { type OwnParts, outgoingMessage } from "./outgoing";
import { type NewEmail, prepareEmail } from "./send";

/** Why the sender's domain may be used: how it was verified. */
export type DomainRule = "built_in" | "verified_by_operator" | "verified_by_dns";
/** Why this caller may use it. */
export type SenderRule = "all_domains" | "linked_domain" | "member";
/** What decides about a recipient. */
export type RecipientRule =
  | "suppression_list"
  | "scripted"
  | "captured"
  | "relay"
  | "direct"
  | "no_transport";

/** A recipient, what accepting the mail would lead to for it, and by which rule. */
export type Foreseen = {
  address: string;
  kind: "to" | "cc" | "bcc";
  outcome: "attempted" | "suppressed" | "waiting";
  rule: RecipientRule;
  /** Why the address is on the team's list; null where the list does not decide. */
  suppressedBy: SuppressionOrigin | null;
};

/** What would become of one mail, and its message as it would leave: `text` is the part that is really in it. */
export type DryRun = {
  outcome: "queued" | "scheduled" | "suppressed";
  mail: AcceptedMail;
  domainRule: DomainRule;
  senderRule: SenderRule;
  recipients: Foreseen[];
  text: string | null;
  headers: { name: string; value: string }[];
  sizeBytes: number;
};

/**
 * What accepting this mail now would do. Refuses what `sendEmail` refuses and in the same words; neither sends nor stores
 * anything, but fetches files given by address as sending does, for they decide too.
 */
export async function dryRunEmail(ctx: Ctx, input: NewEmail): Promise<DryRun> {
  const [run] = await foresee(ctx, [await prepareEmail(ctx, input)]);
  if (!run) throw new TypeError("a mail was prepared and not looked at");
  return run;
}

/** The same of a batch, by its mode: each mail with its place, and what would be refused. */
export async function dryRunBatch(
  ctx: Ctx,
  items: readonly (NewEmail | AppError)[],
  mode: "strict" | "permissive",
): Promise<{ runs: (DryRun & { index: number })[]; errors: { index: number; message: string }[] }> {
  const { mails, errors } = await prepareBatch(ctx, items, mode);
  const runs = await foresee(
    ctx,
    mails.map(({ mail }) => mail),
  );
  return { runs: runs.map((run, n) => ({ ...run, index: mails[n]?.index ?? n })), errors };
}

async function foresee(ctx: Ctx, mails: readonly AcceptedMail[]): Promise<DryRun[]> {
  const addresses = new Set(mails.flatMap(({ recipients }) => recipients.map(({ address }) => address)));
  const [suppressed, declared] = await Promise.all([
    findSuppressed(ctx, [...addresses]),
    findDeclared(ctx, [...new Set(mails.map(({ senderDomain }) => senderDomain))]),
  ]);
  return mails.map((mail) => {
    const recipients = mail.recipients.map((recipient) =>
      foreseeRecipient(ctx, recipient, originFor(mail, suppressed.get(recipient.address))),
    );
    const isForNobody = recipients.every(({ outcome }) => outcome === "suppressed");
    const source = { ...mail, createdAt: ctx.clock(), files: mail.attachments };
    const { bytes } = outgoingMessage(source, ownPartsOf(ctx, mail));
    return {
      outcome: isForNobody ? "suppressed" : mail.status,
      mail,
      domainRule:
        mail.senderDomain === BUILT_IN_DOMAIN
          ? "built_in"
          : declared.has(mail.senderDomain)
            ? "verified_by_operator"
            : "verified_by_dns",
      senderRule: senderRuleOf(ctx),
      recipients,
      text: plainTextOf(mail) || null,
      headers: headersOf(bytes),
      sizeBytes: bytes.length,
    };
  });
}

/** Whoever unsubscribed by a link gets all mail but that which offers it. */
const originFor = ({ listUnsubscribe }: AcceptedMail, entry: Suppression | undefined) =>
  entry && (listUnsubscribe || !entry.listsOnly) ? entry.origin : null;

/** What is the first recipient's own; that of the others is as long as their addresses make it. */
function ownPartsOf(ctx: Ctx, { teamId, id, listUnsubscribe, recipients: [first] }: AcceptedMail): OwnParts {
  if (!listUnsubscribe || !first) return {};
  const { address } = first;
  return { unsubscribeLink: ctx.recipientTokens.unsubscribeLink({ teamId, emailId: id, address }) };
}

/** In the order in which delivery asks: the team's list, then the house's own domain, then the way out. */
function foreseeRecipient(
  { transportKind }: Ctx,
  { address, kind, domain }: AcceptedRecipient,
  suppressedBy: SuppressionOrigin | null,
): Foreseen {
  const foreseen = (outcome: Foreseen["outcome"], rule: RecipientRule): Foreseen => ({
    address,
    kind,
    outcome,
    rule,
    suppressedBy,
  });
  if (suppressedBy !== null) return foreseen("suppressed", "suppression_list");
  if (domain === BUILT_IN_DOMAIN)
    return foreseen(scriptedFate(address)?.suppressed ? "suppressed" : "attempted", "scripted");
  if (transportKind === "none") return foreseen("waiting", "no_transport");
  return foreseen("attempted", transportKind === "capture" ? "captured" : transportKind);
}

function senderRuleOf({ actor }: Ctx): SenderRule {
  if (actor.kind !== "key") return "member";
  return actor.allDomains ? "all_domains" : "linked_domain";
}

/** Those of the team's domains with these names that an operator declared verified. */
async function findDeclared(ctx: Ctx, names: string[]): Promise<Set<string>> {
  if (names.length === 0) return new Set();
  const rows = await ctx.db
    .select({ name: domains.name, declaredVerifiedAt: domains.declaredVerifiedAt })
    .from(domains)
    .where(and(eq(domains.teamId, ctx.teamId), inArray(domains.name, names)));
  return new Set(rows.flatMap(({ name, declaredVerifiedAt }) => (declaredVerifiedAt ? [name] : [])));
}
