import { z } from "zod";
import { SUPPRESSION_ORIGINS } from "#db/schema/suppressions";
import type { Ctx } from "#server/deps";
import { AppError, REJECTION_REASONS, rejectionOf } from "#server/platform/errors";
import type { Verdict } from "#server/platform/limits/limits";
import type {
  DomainRule,
  DryRun,
  RecipientRule,
  SenderRule,
  TextSource,
} from "#server/services/emails/accept/dry-run";
import { findStoredResponse } from "#server/services/emails/accept/idempotency";
import type { Once } from "#server/services/emails/accept/send";
import type { Tier } from "#server/shared/rate-limits";
import { Id, present, Time } from "#server/shared/wire/shapes";

const DOMAIN_RULES: Record<DomainRule, string> = {
  built_in: "Every team can use the built-in domain. Email from it never leaves the installation.",
  verified_by_operator: "The operator verified this domain manually.",
  verified_by_dns: "The DNS records of this domain are verified.",
};

const SENDER_RULES: Record<SenderRule, string> = {
  all_domains: "The key can send from every domain of its team.",
  linked_domain: "The key is linked to this domain.",
  member: "A member can send from every domain of the team.",
};

const RECIPIENT_RULES: Record<RecipientRule, string> = {
  lost_signing_key:
    "The DKIM key of the sender's domain cannot be decrypted. Email is not sent without a signature, so the delivery waits. Rotate the key.",
  suppression_list: "The address is on the team's suppression list, so no email is sent to it.",
  scripted:
    "At backstamp.test the local part of the address determines the simulated outcome. Nothing is sent.",
  captured: "Email is captured: it is stored for inspection and not sent.",
  relay: "The email is sent through the configured mail server: a relay, or that of SMTP_URL.",
  direct: "The email is sent directly to the mail servers of the recipient's domain.",
  no_transport:
    "Outgoing email is not configured. The delivery waits until the operator adds a relay or sets SMTP_URL.",
  daily_cap:
    "The daily cap of the sender's domain (`daily_cap`) is reached. The delivery waits for the next day (UTC).",
  warm_up: "Today's limit of the domain's warm-up is reached. The delivery waits for the next day (UTC).",
  team_daily_cap:
    "The team's daily cap, set by the operator, is reached. The delivery waits for the next day (UTC).",
};

const REPLAYED =
  "This `Idempotency-Key` was used with the same payload. Nothing is sent again, and the stored response is returned.";

const TEXT_SOURCES: Record<TextSource, string> = {
  given: "the `text` of the request",
  converted: "converted from the HTML, as at delivery",
  at_delivery: "converted from the HTML at delivery; a dry run of a batch does not convert it",
  none: "no text part",
};

const enumOf = <K extends string>(table: Record<K, string>) => z.enum(Object.keys(table) as [K, ...K[]]);

const Strings = z.array(z.string());

const Limit = z.object({
  tier: z.string().describe("The rate-limit bucket of this path."),
  limit: z.int().describe("Maximum calls per minute."),
  remaining: z.int().describe("Remaining calls, including this one in the count."),
  resets_at: Time,
});

const Recipient = z.object({
  address: z.string(),
  kind: z.enum(["to", "cc", "bcc"]),
  outcome: z.enum(["attempted", "suppressed", "waiting"]),
  rule: enumOf(RECIPIENT_RULES),
  rule_text: z.string(),
  suppressed_by: z.enum(SUPPRESSION_ORIGINS).nullable(),
});

const File = z.object({
  filename: z.string().nullable(),
  content_type: z.string(),
  content_id: z.string().nullable(),
  size: z.int().describe("In bytes, before any encoding."),
});

const Message = z.object({
  from: z.string(),
  to: Strings,
  cc: Strings,
  bcc: Strings,
  reply_to: Strings,
  subject: z.string(),
  html: z.string().nullable(),
  text: z.string().nullable().describe("The text part; converted from the HTML if the request has none."),
  text_source: enumOf(TEXT_SOURCES).describe(
    `The source of the text part. ${Object.entries(TEXT_SOURCES)
      .map(([source, meaning]) => `\`${source}\`: ${meaning}.`)
      .join(" ")}`,
  ),
  scheduled_at: Time.nullable(),
  tags: z.array(z.object({ name: z.string(), value: z.string() })),
  template_id: Id.nullable(),
  template_version_id: Id.nullable(),
  attachments: z.array(File),
  headers: z
    .array(z.object({ name: z.string(), value: z.string() }))
    .nullable()
    .describe(
      "As sent on the wire. Date, Message-ID and MIME boundaries differ in each run. Null in a batch, whose messages are not composed.",
    ),
  size: z.int().nullable().describe("Size of the complete message in bytes; null in a batch."),
});

const Prediction = z.object({
  outcome: z
    .enum(["queued", "scheduled", "suppressed"])
    .describe("The resulting status of the email; `suppressed` if every recipient is suppressed."),
  domain: z.object({ name: z.string(), rule: enumOf(DOMAIN_RULES), rule_text: z.string() }),
  key: z.object({ id: Id.nullable(), rule: enumOf(SENDER_RULES), rule_text: z.string() }),
  recipients: z.array(Recipient),
  warnings: Strings.describe("What is probably a mistake. The email is accepted all the same."),
  message: Message,
});

const Replayed = z.object({
  outcome: z.literal("replayed"),
  rule: z.literal("idempotency_key"),
  rule_text: z.string(),
  answer: z.record(z.string(), z.unknown()).describe("The response of the real call."),
});

const Rejected = z.object({
  outcome: z.literal("rejected"),
  status: z.literal(403).describe("The status of the real call, whose body does not name the reason."),
  rule: z.enum(REJECTION_REASONS),
  rule_text: z.string().describe("Why the key is rejected, and what would work."),
});

const Head = { object: z.literal("dry_run"), limit: Limit };

/** The dry-run response for one email. */
export const DryRunResponse = z
  .union([
    z.object({ ...Head, ...Prediction.shape }),
    z.object({ ...Head, ...Replayed.shape }),
    z.object({ ...Head, ...Rejected.shape }),
  ])
  .meta({ id: "DryRun" });

/**
 * The dry-run response for a batch. `data` contains the emails that would be accepted, with their index in
 * the request.
 */
export const BatchDryRunResponse = z
  .union([
    z.object({
      ...Head,
      data: z.array(z.object({ index: z.int(), ...Prediction.shape })),
      errors: z.array(z.object({ index: z.int(), message: z.string() })),
    }),
    z.object({ ...Head, ...Replayed.shape }),
    z.object({ ...Head, ...Rejected.shape }),
  ])
  .meta({ id: "BatchDryRun" });

type DryRunCall = { tier: Tier; once: Once | undefined; verdict: Verdict };

/**
 * The response to the dry run of a call: the state of the caller's rate limit, and what `predict` returns. If
 * the `Idempotency-Key` of the call has a stored response, that is what the real call would return; a key
 * that was used with another payload is rejected as there. A 403 of the real call has a fixed body, so here
 * its reason is a result.
 */
export async function dryRun<T>(ctx: Ctx, { tier, once, verdict }: DryRunCall, predict: () => Promise<T>) {
  const { limit, remaining, resetAtMs } = verdict;
  const resets_at = new Date(resetAtMs).toISOString();
  const head = { object: "dry_run" as const, limit: { tier, limit, remaining, resets_at } };
  const stored = once && (await findStoredResponse(ctx, once));
  if (!stored) return { ...head, ...(await predict().catch(presentRejection)) };
  return {
    ...head,
    outcome: "replayed" as const,
    rule: "idempotency_key" as const,
    rule_text: REPLAYED,
    answer: stored.body,
  };
}

function presentRejection(error: unknown): z.output<typeof Rejected> {
  const rejection = error instanceof AppError ? rejectionOf(error) : null;
  if (!rejection) throw error;
  return { outcome: "rejected", status: 403, rule: rejection.reason, rule_text: rejection.detail };
}

/** The dry run of one email. */
export function presentDryRun(run: DryRun): z.output<typeof Prediction> {
  const { mail: email, domainRule, senderRule } = run;
  return {
    outcome: run.outcome,
    domain: { name: email.senderDomain, rule: domainRule, rule_text: DOMAIN_RULES[domainRule] },
    key: { id: email.apiKeyId, rule: senderRule, rule_text: SENDER_RULES[senderRule] },
    recipients: run.recipients.map((recipient) =>
      present(Recipient, recipient, { rule_text: RECIPIENT_RULES[recipient.rule] }),
    ),
    warnings: run.warnings,
    message: present(Message, email, {
      from: email.sender,
      text: run.text,
      text_source: run.textSource,
      attachments: email.attachments.map((file) => present(File, file, { size: file.content.length })),
      headers: run.headers,
      size: run.sizeBytes,
    }),
  };
}
