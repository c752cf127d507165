import type { RecordCheck } from "#db/schema/domains";
import type { Ctx } from "#server/deps";
import { announce } from "../webhooks/announce";
import type { Domain } from "./read";
import { type DomainRecord, recordsOf } from "./records";

/** A record with what was last seen of it; null before the first look. */
export type SeenRecord = DomainRecord & { status: RecordCheck["status"]; check: RecordCheck | null };

/** The records of a domain with their status: `not_started` until somebody looked. */
export function seenRecords(ctx: Pick<Ctx, "names" | "transportKind">, domain: Domain): SeenRecord[] {
  const waiting = domain.status === "not_started" ? "not_started" : "pending";
  return recordsOf(domain, ctx).map((record) => {
    const check = domain.checks.find((seen) => isOfRecord(seen, record));
    return { ...record, status: check?.status ?? waiting, check: check ?? null };
  });
}

/** Whether a look was at this record as it should be now; what it is for may have changed since. */
export const isOfRecord = ({ askedName, expected }: RecordCheck, { host, value }: DomainRecord): boolean =>
  askedName === host && expected === value;

/** Tells the team's endpoints of a change, in the transaction of it. */
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
    records: seenRecords(ctx, domain).map((record) => ({
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
