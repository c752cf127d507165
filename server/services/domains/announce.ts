import type { RecordCheck } from "#db/schema/domains";
import type { Ctx } from "#server/deps";
import type { DomainRecord, DomainSetup } from "#server/shared/wire/domain";
import { announce } from "../webhooks/events/announce";
import { REQUIRED } from "./check/evaluate";
import { dmarcRecordOf, labelIn, notesOf, recordsOf } from "./check/records";
import type { Domain } from "./read";
import type { ReportAddressDeps } from "./report-address";

/** The records of a domain with the results of the last check: `not_started` before the first one. */
export function describeSetup(
  ctx: Pick<Ctx, "transportKind"> & ReportAddressDeps,
  domain: Domain,
): DomainSetup {
  const { name, checks } = domain;
  const unchecked = domain.status === "not_started" ? "not_started" : "pending";
  const records = recordsOf(domain, ctx).map((record) => {
    const check = checks.find((seen) => isCheckOf(seen, record)) ?? null;
    const isRequired = REQUIRED.includes(record.key);
    return { ...record, isRequired, status: check?.status ?? unchecked, check };
  });
  const dmarc = checks.find(({ key }) => key === "dmarc") ?? null;
  const host = `_dmarc.${name}`;
  return {
    records,
    dmarc: {
      host,
      name: labelIn(name, host),
      value: dmarcRecordOf(domain, ctx),
      status: dmarc?.status ?? "not_started",
      check: dmarc,
    },
    otherChecks: checks.filter(
      (check) => check !== dmarc && !records.some((record) => isCheckOf(check, record)),
    ),
    notes: notesOf(domain, ctx),
  };
}

/** Whether a check was of this record as it should be now; the expected value may have changed since. */
const isCheckOf = ({ askedName, expected }: RecordCheck, { host, value }: DomainRecord): boolean =>
  askedName === host && expected === value;

/** Queues the event for the team's endpoints, in the transaction of the change. */
export async function announceDomain(
  ctx: Ctx,
  type: "domain.created" | "domain.updated" | "domain.deleted",
  domain: Domain,
): Promise<void> {
  const { id, name, status, createdAt, region } = domain;
  await announce(ctx, type, {
    id,
    name,
    status,
    created_at: createdAt.toISOString(),
    region,
    records: describeSetup(ctx, domain).records.map(
      ({ record, name, type, value, status, priority }) =>
        ({
          record,
          name,
          type,
          value,
          ttl: "Auto",
          status,
          ...(priority !== undefined && { priority }),
        }) as const,
    ),
  });
}
