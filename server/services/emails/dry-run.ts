import { and, eq, inArray, ne } from "drizzle-orm";
import type { AcceptedMail, AcceptedRecipient } from "#db/accept";
import { readRooms } from "#db/caps";
import type { CapRule } from "#db/schema/deliveries";
import { BUILT_IN_DOMAIN, domains } from "#db/schema/domains";
import type { SuppressionOrigin } from "#db/schema/suppressions";
import type { Ctx } from "#server/deps";
import type { AppError } from "#server/errors";
import { headersOf, plainTextOf } from "#server/mail/compose";
import { signMessage } from "#server/mail/dkim/sign";
import { scriptedFate } from "#server/mail/transport/scripted";
import { KeyDoesNotOpen, keysAt, readSigningKeys, type TimedKey } from "../domains/signing-keys";
import { findRelayed } from "../relays/read";
import type { Suppression } from "../suppressions/present";
import { findSuppressed } from "../suppressions/read";
import { prepareBatch } from "./batch";
import { marksOf } from "./marks";
import { type OwnParts, outgoingMessage } from "./outgoing";
import { type NewEmail, prepareEmail } from "./send";

/** Why the sender's domain may be used: how it was verified. */
export type DomainRule = "built_in" | "verified_by_operator" | "verified_by_dns";
/** Why this caller may use it. */
export type SenderRule = "all_domains" | "linked_domain" | "member";
/** What decides about a recipient. */
export type RecipientRule =
  | "suppression_list"
  | "lost_signing_key"
  | "scripted"
  | "captured"
  | "relay"
  | "direct"
  | "no_transport"
  | CapRule;

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
  const domainNames = [...new Set(mails.map(({ senderDomain }) => senderDomain))];
  const [suppressed, senders, relayed, takeRoom] = await Promise.all([
    findSuppressed(ctx, [...addresses]),
    findSenders(ctx, domainNames),
    findRelayed(ctx, { teamId: ctx.teamId, domainNames }),
    roomToday(ctx, domainNames),
  ]);
  const look = async (mail: AcceptedMail): Promise<DryRun> => {
    const sender = senders.get(mail.senderDomain) ?? { isDeclared: false, keys: [] };
    const recipients = mail.recipients.map((recipient) =>
      foreseeRecipient(ctx, recipient, {
        suppressedBy: originFor(mail, suppressed.get(recipient.address)),
        isSignable: sender.keys !== null,
        isRelayed: relayed.has(mail.senderDomain),
      }),
    );
    for (const recipient of recipients) heedCaps(mail, recipient, takeRoom);
    const isForNobody = recipients.every(({ outcome }) => outcome === "suppressed");
    const createdAt = mail.scheduledAt ?? ctx.clock();
    const source = { ...mail, createdAt, files: mail.attachments };
    const message = outgoingMessage(source, ownPartsOf(ctx, mail));
    const bytes = await signMessage(message.bytes, keysAt(sender.keys ?? [], createdAt), createdAt);
    return {
      outcome: isForNobody ? "suppressed" : mail.status,
      mail,
      domainRule:
        mail.senderDomain === BUILT_IN_DOMAIN
          ? "built_in"
          : sender.isDeclared
            ? "verified_by_operator"
            : "verified_by_dns",
      senderRule: senderRuleOf(ctx),
      recipients,
      text: plainTextOf(mail) || null,
      headers: headersOf(bytes),
      sizeBytes: bytes.length,
    };
  };
  return Promise.all(mails.map(look));
}

/** Whoever unsubscribed by a link gets all mail but that which offers it. */
const originFor = ({ listUnsubscribe }: AcceptedMail, entry: Suppression | undefined) =>
  entry && (listUnsubscribe || !entry.listsOnly) ? entry.origin : null;

/** What is the first recipient's own; that of the others is as long as their addresses make it. */
function ownPartsOf({ recipientTokens }: Ctx, mail: AcceptedMail): OwnParts {
  const { teamId, id, listUnsubscribe } = mail;
  const [first] = mail.recipients;
  if (!first) return {};
  const { address } = first;
  const marks = marksOf(recipientTokens, mail, first.id);
  return {
    ...(listUnsubscribe && {
      unsubscribeLink: recipientTokens.unsubscribeLink({ teamId, emailId: id, address }),
    }),
    ...(marks && { marks }),
  };
}

/** In the order in which delivery asks: the team's list, the signature, the house's own domain, then the way out. */
function foreseeRecipient(
  { transportKind }: Ctx,
  { address, kind, domain }: AcceptedRecipient,
  {
    suppressedBy,
    isSignable,
    isRelayed,
  }: { suppressedBy: SuppressionOrigin | null; isSignable: boolean; isRelayed: boolean },
): Foreseen {
  const foreseen = (outcome: Foreseen["outcome"], rule: RecipientRule): Foreseen => ({
    address,
    kind,
    outcome,
    rule,
    suppressedBy,
  });
  if (suppressedBy !== null) return foreseen("suppressed", "suppression_list");
  if (!isSignable) return foreseen("waiting", "lost_signing_key");
  if (domain === BUILT_IN_DOMAIN)
    return foreseen(scriptedFate(address)?.suppressed ? "suppressed" : "attempted", "scripted");
  if (transportKind === "capture") return foreseen("attempted", "captured");
  if (isRelayed) return foreseen("attempted", "relay");
  return transportKind === "none"
    ? foreseen("waiting", "no_transport")
    : foreseen("attempted", transportKind);
}

/** Gives a recipient its place in today, or the rule by which none is left. */
type TakeRoom = (domain: string) => CapRule | null;

/** What is left of today, for the mails of this call in their order. */
async function roomToday(ctx: Ctx, domainNames: readonly string[]): Promise<TakeRoom> {
  const { teamId } = ctx;
  const rooms = await readRooms(
    ctx.hot,
    domainNames.map((domain) => ({ teamId, domain })),
  );
  return (domain) => {
    const both = rooms.filter((scope) => scope.domain === domain || scope.domain === "");
    const full = both.find(({ room }) => room <= 0);
    if (full) return full.rule;
    for (const scope of both) scope.room--;
    return null;
  };
}

/** What would be attempted at once may have to wait for the next day. What another day will allow nobody knows yet. */
function heedCaps(
  { scheduledAt, senderDomain }: AcceptedMail,
  recipient: Foreseen,
  takeRoom: TakeRoom,
): void {
  if (scheduledAt !== null || recipient.outcome !== "attempted" || recipient.rule === "scripted") return;
  const rule = takeRoom(senderDomain);
  if (rule !== null) Object.assign(recipient, { outcome: "waiting", rule });
}

function senderRuleOf({ actor }: Ctx): SenderRule {
  if (actor.kind !== "key") return "member";
  return actor.allDomains ? "all_domains" : "linked_domain";
}

/** What is asked of a sender's domain: who verified it, and what it signs with; null where a key does not open. */
type Sender = { isDeclared: boolean; keys: TimedKey[] | null };

/** The team's own domains among these names. The built-in one is not among them, and nobody signs for it. */
async function findSenders(ctx: Ctx, names: string[]): Promise<Map<string, Sender>> {
  const { teamId } = ctx;
  if (names.length === 0) return new Map();
  const rows = await ctx.db
    .select({ id: domains.id, name: domains.name, declaredVerifiedAt: domains.declaredVerifiedAt })
    .from(domains)
    .where(and(eq(domains.teamId, teamId), inArray(domains.name, names), ne(domains.name, BUILT_IN_DOMAIN)));
  const entries = rows.map(async ({ id, name, declaredVerifiedAt }) => {
    const keys = await readSigningKeys(ctx, { teamId, domainId: id, domain: name }).catch(
      (error: unknown) => {
        if (error instanceof KeyDoesNotOpen) return null;
        throw error;
      },
    );
    return [name, { isDeclared: declaredVerifiedAt !== null, keys }] as const;
  });
  return new Map(await Promise.all(entries));
}
