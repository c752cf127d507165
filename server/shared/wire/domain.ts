import { z } from "zod";
import {
  CHECK_KEYS,
  type CheckKey,
  DOMAIN_STATUSES,
  DOMAIN_TLS,
  type domains,
  RECORD_STATUSES,
  type RecordCheck,
} from "#db/schema/domains";
import { Id, present, Time } from "./shapes";

const Capability = z.enum(["enabled", "disabled"]);

export const DomainSummaryResponse = z
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
    tracking_host: z
      .string()
      .nullable()
      .describe("Host of the tracked links in new email; null: that of the installation."),
    custom_return_path: z.string().describe("Label of the return-path subdomain."),
    tls: z.enum(DOMAIN_TLS),
    daily_cap: z.int().nullable().describe("Maximum recipients per day (UTC); null without a cap."),
    warm_up: z
      .object({
        start_date: z.iso.date(),
        first_day: z.int(),
        growth_percent: z.int(),
        target: z
          .int()
          .nullable()
          .describe("Recipients per day at which the warm-up ends; null if it ends at the daily cap."),
      })
      .nullable(),
    today: z
      .object({
        allowed: z
          .int()
          .nullable()
          .describe("The lower limit of the cap and the warm-up; null without a limit."),
        handed_over: z
          .int()
          .describe("Recipients counted so far. Recipients are not counted while the domain has no limit."),
      })
      .describe("The current day (UTC)."),
    declared_verified: z
      .boolean()
      .describe("Whether the operator verified the domain manually, without DNS."),
    failing_since: Time.nullable().describe("When the checks of a verified domain started to fail."),
    last_checked_at: Time.nullable(),
    next_check_at: Time.nullable(),
    expires_at: Time.nullable().describe(
      "When the domain is deleted if it is never verified; null after the first verification.",
    ),
  })
  .meta({ id: "DomainSummary" });

const CheckResponse = z
  .object({
    asked_name: z.string(),
    asked_type: z.string(),
    resolver: z
      .string()
      .describe(
        "The name server that responded, or the last one queried; for `tracking_https`, the address.",
      ),
    expected: z.string().nullable(),
    answers: z.array(z.string()),
    fault: z.string().nullable().describe("Name of the fault; null if there is none."),
    advice: z.string().nullable().describe("How to fix the fault."),
  })
  .meta({ id: "DnsCheck" });

const RecordResponse = z
  .object({
    // The ownership token is listed as `DKIM`: a client that publishes all listed records then publishes it
    // too.
    record: z.enum(["SPF", "DKIM", "Tracking"]),
    name: z.string().describe("The name relative to the registered domain, as DNS providers expect it."),
    type: z.enum(["TXT", "MX", "CNAME"]),
    value: z.string(),
    ttl: z.literal("Auto"),
    status: z.enum(RECORD_STATUSES),
    priority: z.int().optional(),
    proxy_status: z.literal("disable").optional(),
    host: z.string().describe("The fully qualified name."),
    purpose: z.enum(CHECK_KEYS),
    required: z.boolean().describe("Whether verification requires this record."),
    keep_until: Time.nullable()
      .optional()
      .describe(
        "Only for a DKIM key that no longer signs: keep its record published at least until this time.",
      ),
    check: CheckResponse.nullable(),
  })
  .meta({ id: "DomainRecord" });

export const DomainResponse = z
  .object({
    object: z.literal("domain"),
    ...DomainSummaryResponse.shape,
    records: z.array(RecordResponse),
    dmarc: z
      .object({
        name: z.string(),
        type: z.literal("TXT"),
        value: z.string(),
        ttl: z.literal("Auto"),
        status: z.enum(RECORD_STATUSES),
        host: z.string(),
        check: CheckResponse.nullable(),
      })
      .describe("Recommended; not required for sending."),
    also_checked: z.array(
      z.object({ purpose: z.enum(CHECK_KEYS), status: z.enum(RECORD_STATUSES), check: CheckResponse }),
    ),
    notes: z
      .array(z.object({ about: z.enum(["Name", "SPF", "MX", "Tracking", "Receiving"]), text: z.string() }))
      .describe(
        "What the checks could not determine, so a fault may remain undetected; and a warning if the name mixes scripts.",
      ),
  })
  .meta({ id: "Domain" });

type Response = z.infer<typeof DomainResponse>;

/** The columns of a domain, and its use today (UTC); `allowedToday` is null without cap and warm-up. */
type DomainRow = typeof domains.$inferSelect & { allowedToday: number | null; handedOverToday: number };

/** One record that the owner of a domain publishes, with the kinds that the Resend API defines. */
export type DomainRecord = Pick<
  Response["records"][number],
  "record" | "type" | "host" | "name" | "value" | "priority"
> & {
  key: Exclude<CheckKey, "tracking_https" | "domain_spf" | "dmarc">;
  /** For the record of a retired key: the earliest time at which it may be removed, in ISO 8601. */
  keptUntil?: string | null;
};

/** A record that this installation cannot specify, and why; or a warning. */
export type DomainNote = Response["notes"][number];

/** A record with the result of its last check; `check` is null before the first one. */
type CheckResult = { status: RecordCheck["status"]; check: RecordCheck | null };
export type CheckedRecord = DomainRecord & CheckResult & { isRequired: boolean };

/** The DNS records of a domain with the results of the last check. */
export type DomainSetup = {
  records: CheckedRecord[];
  dmarc: Pick<DomainRecord, "name" | "host" | "value"> & CheckResult;
  otherChecks: RecordCheck[];
  notes: DomainNote[];
};

const capability = (isOn: boolean) => (isOn ? "enabled" : "disabled");

/** A domain without its records, as lists show it. */
export function presentDomainSummary(domain: DomainRow): z.infer<typeof DomainSummaryResponse> {
  return present(DomainSummaryResponse, domain, {
    capabilities: { sending: capability(domain.sending), receiving: capability(domain.receiving) },
    custom_return_path: domain.returnPathLabel,
    warm_up: warmUpJson(domain),
    today: { allowed: domain.allowedToday, handed_over: domain.handedOverToday },
    declared_verified: domain.declaredVerifiedAt !== null,
    failing_since: domain.status === "verified" ? (domain.failingSince?.toISOString() ?? null) : null,
  });
}

function warmUpJson({ warmUpFrom, warmUpFirst, warmUpGrowth, warmUpTarget }: DomainRow) {
  if (warmUpFrom === null || warmUpFirst === null || warmUpGrowth === null) return null;
  return {
    start_date: warmUpFrom,
    first_day: warmUpFirst,
    growth_percent: warmUpGrowth,
    target: warmUpTarget,
  };
}

/**
 * A domain with its records and the result of the last check of each. Also contains the recommended DMARC
 * record, further checks, and notes on what could not be determined.
 */
export function presentDomain(domain: DomainRow, setup: DomainSetup): Response {
  const { records, dmarc, otherChecks, notes } = setup;
  return {
    object: "domain",
    ...presentDomainSummary(domain),
    records: records.map((record) =>
      present(RecordResponse, record, {
        ttl: "Auto",
        proxy_status: record.type === "CNAME" ? "disable" : undefined,
        purpose: record.key,
        required: record.isRequired,
        keep_until: record.keptUntil,
        check: record.check && presentCheck(record.check),
      }),
    ),
    dmarc: {
      name: dmarc.name,
      type: "TXT",
      value: dmarc.value,
      ttl: "Auto",
      status: dmarc.status,
      host: dmarc.host,
      check: dmarc.check && presentCheck(dmarc.check),
    },
    also_checked: otherChecks.map((check) => ({
      purpose: check.key,
      status: check.status,
      check: presentCheck(check),
    })),
    notes,
  };
}

const presentCheck = (check: RecordCheck) => present(CheckResponse, check, { asked_type: check.type });
