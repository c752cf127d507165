import { z } from "zod";
import { CHECK_KEYS, DOMAIN_STATUSES, RECORD_STATUSES, type RecordCheck } from "#db/schema/domains";
import type { Ctx } from "#server/deps";
import { isOfRecord, seenRecords } from "#server/services/domains/announce-domain";
import { REQUIRED } from "#server/services/domains/judge";
import type { Domain } from "#server/services/domains/read";
import { DMARC_ADVISED, labelIn, notesOf } from "#server/services/domains/records";
import { Id, Time } from "./shapes";

const Capability = z.enum(["enabled", "disabled"]);

export const DomainSummaryAnswer = z
  .object({
    id: Id,
    name: z.string(),
    status: z.enum(DOMAIN_STATUSES),
    created_at: Time,
    region: z.string(),
    capabilities: z.object({ sending: Capability, receiving: Capability }),
    open_tracking: z.boolean(),
    click_tracking: z.boolean(),
    tracking_subdomain: z.string().nullable(),
    custom_return_path: z.string().describe("Label of the return path below the domain."),
    tls: z.enum(["opportunistic", "enforced"]),
    daily_cap: z.int().nullable().describe("Recipients a day (UTC); null for no such limit."),
    warm_up: z
      .object({
        start_date: z.iso.date(),
        first_day: z.int(),
        growth_percent: z.int(),
        target: z.int().nullable().describe("Where it ends; null where the daily cap does that."),
      })
      .nullable(),
    today: z
      .object({
        allowed: z
          .int()
          .nullable()
          .describe("By the cap or the warm-up, whichever is less; null for any number."),
        handed_over: z
          .int()
          .describe("Recipients counted so far; nobody counts where any number is allowed."),
      })
      .describe("The day in UTC."),
    declared_verified: z.boolean().describe("Whether the operator, not DNS, says that it is verified."),
    failing_since: Time.nullable().describe("Since when looks at a verified domain find a fault."),
    last_checked_at: Time.nullable(),
    next_check_at: Time.nullable(),
  })
  .meta({ id: "DomainSummary" });

const CheckAnswer = z
  .object({
    asked_name: z.string(),
    asked_type: z.string(),
    resolver: z.string().describe("The name server that answered, or was asked last."),
    expected: z.string().nullable(),
    answers: z.array(z.string()),
    fault: z.string().nullable().describe("The fault by name; null where all is well."),
    advice: z.string().nullable().describe("What to do about it."),
  })
  .meta({ id: "DnsLook" });

const RecordAnswer = z
  .object({
    record: z.enum(["SPF", "DKIM", "Tracking"]),
    name: z.string().describe("As a panel for the registered domain wants it."),
    type: z.enum(["TXT", "MX", "CNAME"]),
    value: z.string(),
    ttl: z.literal("Auto"),
    status: z.enum(RECORD_STATUSES),
    priority: z.int().optional(),
    proxy_status: z.literal("disable").optional(),
    host: z.string().describe("The full name."),
    purpose: z.enum(CHECK_KEYS),
    required: z.boolean().describe("Whether the domain needs it to be verified."),
    keep_until: Time.nullable()
      .optional()
      .describe("Of the record of a key that signs no more: it has to stay published until then, at least."),
    check: CheckAnswer.nullable(),
  })
  .meta({ id: "DomainRecord" });

export const DomainAnswer = z
  .object({
    object: z.literal("domain"),
    ...DomainSummaryAnswer.shape,
    records: z.array(RecordAnswer),
    dmarc: z
      .object({
        name: z.string(),
        type: z.literal("TXT"),
        value: z.string(),
        ttl: z.literal("Auto"),
        status: z.enum(RECORD_STATUSES),
        host: z.string(),
        check: CheckAnswer.nullable(),
      })
      .describe("Advice: mail is sent without it too."),
    also_checked: z.array(
      z.object({ purpose: z.enum(CHECK_KEYS), status: z.enum(RECORD_STATUSES), check: CheckAnswer }),
    ),
    notes: z
      .array(z.object({ about: z.enum(["Name", "SPF", "MX", "Tracking", "Receiving"]), text: z.string() }))
      .describe(
        "What is not known here, so that its absence is no all-clear; and a warning where the name mixes scripts.",
      ),
  })
  .meta({ id: "Domain" });

const capability = (isOn: boolean) => (isOn ? "enabled" : "disabled");
const timeOf = (time: Date | null) => time?.toISOString() ?? null;

/** A domain without its records, as lists show it. */
export function domainSummaryJson(domain: Domain): z.infer<typeof DomainSummaryAnswer> {
  return {
    id: domain.id,
    name: domain.name,
    status: domain.status,
    created_at: domain.createdAt.toISOString(),
    region: domain.region,
    capabilities: { sending: capability(domain.sending), receiving: capability(domain.receiving) },
    open_tracking: domain.openTracking,
    click_tracking: domain.clickTracking,
    tracking_subdomain: domain.trackingSubdomain,
    custom_return_path: domain.returnPathLabel,
    tls: domain.tls,
    daily_cap: domain.dailyCap,
    warm_up: warmUpJson(domain),
    today: { allowed: domain.allowedToday, handed_over: domain.handedOverToday },
    declared_verified: domain.declaredVerifiedAt !== null,
    failing_since: domain.status === "verified" ? timeOf(domain.failingSince) : null,
    last_checked_at: timeOf(domain.lastCheckedAt),
    next_check_at: timeOf(domain.nextCheckAt),
  };
}

function warmUpJson({ warmUpFrom, warmUpFirst, warmUpGrowth, warmUpTarget }: Domain) {
  if (warmUpFrom === null || warmUpFirst === null || warmUpGrowth === null) return null;
  return {
    start_date: warmUpFrom,
    first_day: warmUpFirst,
    growth_percent: warmUpGrowth,
    target: warmUpTarget,
  };
}

/**
 * A domain with its records, each with what the last look saw of it; beside them DMARC, which is advice, what else was
 * looked at, and what is not known here.
 */
export function domainJson(
  ctx: Pick<Ctx, "names" | "transportKind">,
  domain: Domain,
): z.infer<typeof DomainAnswer> {
  const records = seenRecords(ctx, domain);
  const dmarc = domain.checks.find(({ key }) => key === "dmarc");
  return {
    object: "domain",
    ...domainSummaryJson(domain),
    records: records.map((record) => ({
      record: record.record,
      name: record.name,
      type: record.type,
      value: record.value,
      ttl: "Auto",
      status: record.status,
      ...(record.priority === undefined ? {} : { priority: record.priority }),
      ...(record.type === "CNAME" ? { proxy_status: "disable" } : {}),
      host: record.host,
      purpose: record.key,
      required: REQUIRED.includes(record.key),
      ...(record.keptUntil === undefined ? {} : { keep_until: record.keptUntil }),
      check: record.check && checkJson(record.check),
    })),
    dmarc: {
      name: labelIn(domain.name, `_dmarc.${domain.name}`),
      type: "TXT",
      value: DMARC_ADVISED,
      ttl: "Auto",
      status: dmarc?.status ?? "not_started",
      host: `_dmarc.${domain.name}`,
      check: dmarc ? checkJson(dmarc) : null,
    },
    also_checked: domain.checks
      .filter((check) => check.key !== "dmarc" && !records.some((record) => isOfRecord(check, record)))
      .map((check) => ({ purpose: check.key, status: check.status, check: checkJson(check) })),
    notes: notesOf(domain, ctx),
  };
}

function checkJson({ askedName, type, resolver, expected, answers, fault, advice }: RecordCheck) {
  return { asked_name: askedName, asked_type: type, resolver, expected, answers, fault, advice };
}
