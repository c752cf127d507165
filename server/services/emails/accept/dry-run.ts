import { and, eq, inArray, ne } from "drizzle-orm";
import type { CapRule } from "#db/schema/deliveries";
import { BUILT_IN_DOMAIN, domains } from "#db/schema/domains";
import type { SuppressionOrigin } from "#db/schema/suppressions";
import type { Ctx } from "#server/deps";
import { signMessage } from "#server/mail/dkim/sign";
import { headersOf } from "#server/mail/mime/compose";
import { getScriptedFate } from "#server/mail/transport/scripted";
import type { AppError } from "#server/platform/errors";
import type { Suppression } from "#server/shared/wire/suppression";
import { listRemainingCaps } from "../../caps/today";
import { DkimKeyUnreadable, keysAt, listSigningKeys, type TimedKey } from "../../domains/dkim/signing-keys";
import { findRelayedDomains } from "../../relays/read";
import { isBlocking } from "../../suppressions/blocking";
import { findSuppressed } from "../../suppressions/read";
import { type OwnParts, outgoingMessage } from "../outgoing";
import { marksOf } from "../read/marks";
import { listWarnings } from "../warnings";
import type { AcceptedEmail, AcceptedRecipient } from "./insert-submissions";
import { type NewEmail, prepareBatch, prepareEmail } from "./send";

/** How the sender's domain was verified. */
export type DomainRule = "built_in" | "verified_by_operator" | "verified_by_dns";
/** Why the caller may use the domain. */
export type SenderRule = "all_domains" | "linked_domain" | "member";
/** What determines the outcome for a recipient. */
export type RecipientRule =
  | "suppression_list"
  | "lost_signing_key"
  | "scripted"
  | "captured"
  | "relay"
  | "direct"
  | "no_transport"
  | CapRule;

/** A recipient, the outcome that accepting the email would have for it, and the rule that determines it. */
export type PredictedRecipient = {
  address: string;
  kind: "to" | "cc" | "bcc";
  outcome: "attempted" | "suppressed" | "waiting";
  rule: RecipientRule;
  /** Why the address is on the team's suppression list; null if the list does not determine the outcome. */
  suppressedBy: SuppressionOrigin | null;
};

/** Where the text part comes from; `at_delivery` if it is converted from the HTML only then. */
export type TextSource = "given" | "converted" | "at_delivery" | "none";

/**
 * The outcome for one email, and its message as it would be sent. The message of an email in a batch is not
 * composed: it has no headers and no size, and no text unless one was given.
 */
export type DryRun = {
  outcome: "queued" | "scheduled" | "suppressed";
  mail: AcceptedEmail;
  domainRule: DomainRule;
  senderRule: SenderRule;
  recipients: PredictedRecipient[];
  text: string | null;
  textSource: TextSource;
  headers: { name: string; value: string }[] | null;
  sizeBytes: number | null;
  warnings: string[];
};

/**
 * Shows what accepting this email now would do. Rejects whatever `sendEmail` rejects, with the same messages.
 * Sends and stores nothing, but fetches files given by URL as sending does, because they affect the outcome.
 */
export async function dryRunEmail(ctx: Ctx, input: NewEmail): Promise<DryRun> {
  const [run] = await simulate(ctx, [await prepareEmail(ctx, input)], true);
  if (!run) throw new TypeError("no result for a prepared email");
  return run;
}

/** The same for a batch in the given mode: each email with its index, and the errors. */
export async function dryRunBatch(
  ctx: Ctx,
  items: readonly (NewEmail | AppError)[],
  mode: "strict" | "permissive",
): Promise<{ runs: (DryRun & { index: number })[]; errors: { index: number; message: string }[] }> {
  const { emails, errors } = await prepareBatch(ctx, items, mode);
  const prepared = emails.map(({ email }) => email);
  const runs = await simulate(ctx, prepared, false);
  return { runs: runs.map((run, n) => ({ ...run, index: emails[n]?.index ?? n })), errors };
}

// A send leaves composing, converting and signing to the worker. A batch would do a hundred times that work
// in the web process, so it would cost many times what sending it costs.
async function simulate(ctx: Ctx, emails: readonly AcceptedEmail[], isComposed: boolean): Promise<DryRun[]> {
  const addresses = new Set(emails.flatMap(({ recipients }) => recipients.map(({ address }) => address)));
  const domainNames = [...new Set(emails.map(({ senderDomain }) => senderDomain))];
  const [suppressed, senders, relayed, reserveCap] = await Promise.all([
    findSuppressed(ctx, [...addresses]),
    findSenders(ctx, domainNames),
    findRelayedDomains(ctx, { teamId: ctx.teamId, domainNames }),
    reserveCapsToday(ctx, domainNames),
  ]);
  const simulateOne = async (email: AcceptedEmail): Promise<DryRun> => {
    const sender = senders.get(email.senderDomain) ?? { isDeclared: false, keys: [] };
    const recipients = email.recipients.map((recipient) =>
      predictRecipient(ctx, recipient, {
        suppressedBy: originFor(email, suppressed.get(recipient.address)),
        isSignable: sender.keys !== null,
        isRelayed: relayed.has(email.senderDomain),
      }),
    );
    for (const recipient of recipients) applyCaps(email, recipient, reserveCap);
    const areAllSuppressed = recipients.every(({ outcome }) => outcome === "suppressed");
    return {
      outcome: areAllSuppressed ? "suppressed" : email.status,
      mail: email,
      domainRule:
        email.senderDomain === BUILT_IN_DOMAIN
          ? "built_in"
          : sender.isDeclared
            ? "verified_by_operator"
            : "verified_by_dns",
      senderRule: senderRuleOf(ctx),
      recipients,
      warnings: listWarnings(email),
      ...(isComposed ? await compose(ctx, email, sender.keys ?? []) : withoutMessage(email)),
    };
  };
  return Promise.all(emails.map(simulateOne));
}

type Message = Pick<DryRun, "text" | "textSource" | "headers" | "sizeBytes">;

async function compose(ctx: Ctx, email: AcceptedEmail, keys: readonly TimedKey[]): Promise<Message> {
  const createdAt = email.scheduledAt ?? ctx.clock();
  const isConverted = email.text === null && Boolean(email.html);
  const text = isConverted ? await ctx.convertToText(ctx.teamId, email.html ?? "") : (email.text ?? "");
  const source = { ...email, createdAt, files: email.attachments, text };
  const message = outgoingMessage(source, ownPartsOf(ctx, email));
  const bytes = await signMessage(message.bytes, keysAt(keys, createdAt), createdAt);
  return {
    text: text || null,
    textSource: isConverted ? "converted" : text === "" ? "none" : "given",
    headers: headersOf(bytes),
    sizeBytes: bytes.length,
  };
}

function withoutMessage({ text, html }: AcceptedEmail): Message {
  const textSource = text ? "given" : text === null && html ? "at_delivery" : "none";
  return { text: text || null, textSource, headers: null, sizeBytes: null };
}

const originFor = (email: AcceptedEmail, entry: Suppression | undefined) =>
  entry && isBlocking(entry, email) ? entry.origin : null;

/**
 * The individual parts of the first recipient's copy. Those of other copies differ in length only as their
 * addresses do.
 */
function ownPartsOf({ recipientTokens }: Ctx, email: AcceptedEmail): OwnParts {
  const { teamId, id, listUnsubscribe, listName: list } = email;
  const [first] = email.recipients;
  if (!first) return {};
  const { address } = first;
  const marks = marksOf(recipientTokens, email, first.id);
  return {
    ...(listUnsubscribe && {
      unsubscribeLink: recipientTokens.unsubscribeLink({ teamId, emailId: id, address, list }),
    }),
    ...(marks && { marks }),
  };
}

/** In the order of delivery: suppression list, signature, the built-in domain, then the transport. */
function predictRecipient(
  { transportKind }: Ctx,
  { address, kind, domain }: AcceptedRecipient,
  known: { suppressedBy: SuppressionOrigin | null; isSignable: boolean; isRelayed: boolean },
): PredictedRecipient {
  const { suppressedBy, isSignable, isRelayed } = known;
  const predicted = (outcome: PredictedRecipient["outcome"], rule: RecipientRule) => {
    return { address, kind, outcome, rule, suppressedBy };
  };
  if (suppressedBy !== null) return predicted("suppressed", "suppression_list");
  if (!isSignable) return predicted("waiting", "lost_signing_key");
  if (domain === BUILT_IN_DOMAIN)
    return predicted(getScriptedFate(address).isSuppressed ? "suppressed" : "attempted", "scripted");
  if (transportKind === "capture") return predicted("attempted", "captured");
  if (isRelayed) return predicted("attempted", "relay");
  return transportKind === "none"
    ? predicted("waiting", "no_transport")
    : predicted("attempted", transportKind);
}

/** Counts a recipient against today's caps; returns the rule of a cap that is used up. */
type ReserveCap = (domain: string) => CapRule | null;

/** Counts the emails of this call, in order, against what is left of today's caps. */
async function reserveCapsToday(ctx: Ctx, domainNames: readonly string[]): Promise<ReserveCap> {
  const { teamId } = ctx;
  const rooms = await listRemainingCaps(
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

/**
 * A recipient that would be attempted now may have to wait until tomorrow. The caps of later days are not
 * known yet.
 */
function applyCaps(
  { scheduledAt, senderDomain }: AcceptedEmail,
  recipient: PredictedRecipient,
  reserveCap: ReserveCap,
): void {
  if (scheduledAt !== null || recipient.outcome !== "attempted" || recipient.rule === "scripted") return;
  const rule = reserveCap(senderDomain);
  if (rule !== null) Object.assign(recipient, { outcome: "waiting", rule });
}

function senderRuleOf({ actor }: Ctx): SenderRule {
  if (actor.kind !== "key") return "member";
  return actor.allDomains ? "all_domains" : "linked_domain";
}

/**
 * A sender's domain: whether the operator verified it, and its signing keys; null if a key that still signs
 * cannot be decrypted.
 */
type Sender = { isDeclared: boolean; keys: TimedKey[] | null };

/**
 * Finds the team's own domains among these names. The built-in domain is not included; its emails are not
 * signed.
 */
async function findSenders(ctx: Ctx, names: string[]): Promise<Map<string, Sender>> {
  const { teamId } = ctx;
  if (names.length === 0) return new Map();
  const rows = await ctx.db
    .select({ id: domains.id, name: domains.name, declaredVerifiedAt: domains.declaredVerifiedAt })
    .from(domains)
    .where(and(eq(domains.teamId, teamId), inArray(domains.name, names), ne(domains.name, BUILT_IN_DOMAIN)));
  const entries = rows.map(async ({ id, name, declaredVerifiedAt }) => {
    const keys = await listSigningKeys(ctx, { teamId, domainId: id, domain: name });
    const nowMs = ctx.clock().getTime();
    const isUnreadable = keys.some(({ key, untilMs }) => key instanceof DkimKeyUnreadable && untilMs > nowMs);
    return [name, { isDeclared: declaredVerifiedAt !== null, keys: isUnreadable ? null : keys }] as const;
  });
  return new Map(await Promise.all(entries));
}
