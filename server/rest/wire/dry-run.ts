import { z } from "zod";
import { SUPPRESSION_ORIGINS } from "#db/schema/suppressions";
import type { Tier, Verdict } from "#server/limits/limits";
import type { DomainRule, DryRun, RecipientRule, SenderRule } from "#server/services/emails/dry-run";
import { Id, Time } from "./shapes";

const DOMAIN_RULES: Record<DomainRule, string> = {
  built_in: "The built-in domain is every team's; mail from it stays in the house.",
  verified_by_operator: "The operator declared this domain verified.",
  verified_by_dns: "The DNS records of this domain were found in order.",
};

const SENDER_RULES: Record<SenderRule, string> = {
  all_domains: "The key may send from every domain of its team.",
  linked_domain: "The key is linked to this domain.",
  member: "Members of a team may send from every domain of it.",
};

const RECIPIENT_RULES: Record<RecipientRule, string> = {
  lost_signing_key:
    "The DKIM key of the sender's domain does not open, and nothing is sent without its signature: the mail waits. Rotate the key.",
  suppression_list: "The address is on the team's suppression list: it is set aside and not written to.",
  scripted:
    "At posthorn.test the name of the address decides what happens to it, and nothing leaves the house.",
  captured: "Mail is captured here: kept to be looked at, and sent to nobody.",
  relay: "It is handed to the mail server that the operator set up: a relay, or that of SMTP_URL.",
  direct: "It is handed to the mail servers of the recipient's domain.",
  no_transport: "No way out is set up (SMTP_URL), so it waits until there is one.",
  daily_cap:
    "Today's number of the sender's domain (`daily_cap`) is used up, so it waits for the next day (UTC).",
  warm_up: "Today's number of the domain's warm-up is used up, so it waits for the next day (UTC).",
  team_daily_cap:
    "What the operator allows the team in a day is used up, so it waits for the next day (UTC).",
};

const REPLAYED =
  "This `Idempotency-Key` was used for this very payload: nothing is sent again, and the answer is the one given then.";

const enumOf = <K extends string>(table: Record<K, string>) => z.enum(Object.keys(table) as [K, ...K[]]);

const Strings = z.array(z.string());

const Limit = z.object({
  tier: z.string().describe("The bucket that calls of this path are counted in."),
  limit: z.int().describe("Calls a minute."),
  remaining: z.int().describe("Calls that are left, this one already counted."),
  resets_at: Time,
});

const Foresight = z.object({
  outcome: z
    .enum(["queued", "scheduled", "suppressed"])
    .describe("What the mail would be; suppressed where every recipient is."),
  domain: z.object({ name: z.string(), rule: enumOf(DOMAIN_RULES), rule_text: z.string() }),
  key: z.object({ id: Id.nullable(), rule: enumOf(SENDER_RULES), rule_text: z.string() }),
  recipients: z.array(
    z.object({
      address: z.string(),
      kind: z.enum(["to", "cc", "bcc"]),
      outcome: z.enum(["attempted", "suppressed", "waiting"]),
      rule: enumOf(RECIPIENT_RULES),
      rule_text: z.string(),
      suppressed_by: z.enum(SUPPRESSION_ORIGINS).nullable(),
    }),
  ),
  message: z.object({
    from: z.string(),
    to: Strings,
    cc: Strings,
    bcc: Strings,
    reply_to: Strings,
    subject: z.string(),
    html: z.string().nullable(),
    text: z.string().nullable().describe("The text part, made from the HTML where none was given."),
    scheduled_at: Time.nullable(),
    tags: z.array(z.object({ name: z.string(), value: z.string() })),
    template_id: Id.nullable(),
    template_version_id: Id.nullable(),
    attachments: z.array(
      z.object({
        filename: z.string().nullable(),
        content_type: z.string(),
        content_id: z.string().nullable(),
        size: z.int().describe("In bytes, before any encoding."),
      }),
    ),
    headers: z
      .array(z.object({ name: z.string(), value: z.string() }))
      .describe("As they would stand on the wire. Date, Message-ID and boundaries are new in each run."),
    size: z.int().describe("Of the whole message, in bytes."),
  }),
});

const Replayed = z.object({
  outcome: z.literal("replayed"),
  rule: z.literal("idempotency_key"),
  rule_text: z.string(),
  answer: z.record(z.string(), z.unknown()).describe("What the real call would answer."),
});

const Head = { object: z.literal("dry_run"), limit: Limit };

/** What `dry_run` answers for one mail. */
export const DryRunAnswer = z
  .union([z.object({ ...Head, ...Foresight.shape }), z.object({ ...Head, ...Replayed.shape })])
  .meta({ id: "DryRun" });

/** What it answers for a batch. `data` holds the mails that would be accepted, each with its place. */
export const BatchDryRunAnswer = z
  .union([
    z.object({
      ...Head,
      data: z.array(z.object({ index: z.int(), ...Foresight.shape })),
      errors: z.array(z.object({ index: z.int(), message: z.string() })),
    }),
    z.object({ ...Head, ...Replayed.shape }),
  ])
  .meta({ id: "BatchDryRun" });

/** What every dry run begins with: how many such calls the caller has left. */
export function dryRunHead(tier: Tier, { limit, remaining, resetAtMs }: Verdict) {
  const resets_at = new Date(resetAtMs).toISOString();
  return { object: "dry_run" as const, limit: { tier, limit, remaining, resets_at } };
}

/** A call whose `Idempotency-Key` decides everything. */
export function replayedJson(answer: Record<string, unknown>) {
  return {
    outcome: "replayed" as const,
    rule: "idempotency_key" as const,
    rule_text: REPLAYED,
    answer,
  };
}

/** What would become of one mail. */
export function dryRunJson(run: DryRun): z.output<typeof Foresight> {
  const { mail, domainRule, senderRule } = run;
  return {
    outcome: run.outcome,
    domain: { name: mail.senderDomain, rule: domainRule, rule_text: DOMAIN_RULES[domainRule] },
    key: { id: mail.apiKeyId, rule: senderRule, rule_text: SENDER_RULES[senderRule] },
    recipients: run.recipients.map(({ address, kind, outcome, rule, suppressedBy }) => ({
      address,
      kind,
      outcome,
      rule,
      rule_text: RECIPIENT_RULES[rule],
      suppressed_by: suppressedBy,
    })),
    message: {
      from: mail.sender,
      to: mail.to,
      cc: mail.cc,
      bcc: mail.bcc,
      reply_to: mail.replyTo,
      subject: mail.subject,
      html: mail.html,
      text: run.text,
      scheduled_at: mail.scheduledAt?.toISOString() ?? null,
      tags: mail.tags,
      template_id: mail.templateId,
      template_version_id: mail.templateVersionId,
      attachments: mail.attachments.map(({ filename, contentType, contentId, content }) => ({
        filename,
        content_type: contentType,
        content_id: contentId,
        size: content.length,
      })),
      headers: run.headers,
      size: run.sizeBytes,
    },
  };
}
