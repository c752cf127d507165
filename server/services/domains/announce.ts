import type { RecordCheck } from "#db/schema/domains";
import type { Ctx } from "#server/deps";
import { announce } from "../webhooks/events/announce";
import { type DomainRecord, recordsOf } from "./check/records";
import type { Domain } from "./read";

/** A record with the result of its last check; null before the first check. */
export type CheckedRecord = DomainRecord & { status: RecordCheck["status"]; check: RecordCheck | null };

/** The records of a domain with their status: `not_started` before the first check. */
export function recordsWithChecks(
  ctx: Pick<Ctx, "names" | "transportKind">,
  domain: Domain,
): CheckedRecord[] {
  const waiting = domain.status === "not_started" ? "not_started" : "pending";
  return recordsOf(domain, ctx).map((record) => {
    const check = domain.checks.find((seen) => isCheckOf(seen, record));
    return { ...record, status: check?.status ?? waiting, check: check ?? null };
  });
}

/** Whether a check was of this record as it should be now; the expected value may have changed since. */
export const isCheckOf = ({ askedName, expected }: RecordCheck, { host, value }: DomainRecord): boolean =>
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
    records: recordsWithChecks(ctx, domain).map((record) => ({
      record: record.record,
      name: record.name,
      type: record.type,
      value: record.value,
      ttl: "Auto",
      status: record.status,
      ...(record.priority === undefined ? {} : { priority: record.priority }),
    })),
  });
}
