import { type SQL, sql } from "drizzle-orm";
import { domains, type RecordCheck } from "#db/schema/domains";
import type { Deps } from "#server/deps";

/*
 * Each domain has its own return path, `custom_return_path` below its name, in the periods in which the MX
 * and SPF records of this name are in DNS. The time at which an email was accepted, or for which it was
 * scheduled, decides whether it has this return path, so every attempt has the same. It is for direct
 * delivery only: relays have their own rules for return paths.
 */

/**
 * Time between a check of a verified domain and the first email that it concerns. It must exceed the time in
 * which the check commits: two attempts of one email would otherwise have different return paths.
 */
const changeDelayMs = 10_000;
/** Older periods concern no email that is still queued. */
const keptDays = 90;
/** Bounds the row of a domain whose records come and go. It then has the installation's return path. */
const periodsMax = 50;

/** Whether this installation receives bounces: by its listener, or by a server that submits them. */
export const receivesBounces = ({ names, policy }: Pick<Deps, "names" | "policy">): boolean =>
  policy.hasInboundPort || names.returnPathDomain !== null;

/** The domain of the return path below a domain, whose MX and SPF records lead here. */
export const returnPathHostOf = ({
  returnPathLabel,
  name,
}: Pick<typeof domains.$inferSelect, "name" | "returnPathLabel">): string => `${returnPathLabel}.${name}`;

/** Whether both records of the domain's own return path were found; null if a lookup failed. */
export function isReturnPathPublished(checks: readonly RecordCheck[]): boolean | null {
  const found = (["mx", "spf"] as const).map(
    (purpose) => checks.find(({ key, expected }) => key === purpose && expected !== null)?.status,
  );
  if (found.every((status) => status === "verified")) return true;
  return found.every((status) => status === "verified" || status === "temporary_failure") ? null : false;
}

/**
 * The change of the periods by a check; a failed lookup changes nothing. `wasVerified`: the domain could send
 * email until now.
 */
export function returnPathChange(isPublished: boolean | null, wasVerified: boolean) {
  if (isPublished === null) return {};
  const periods = domains.returnPathPeriods;
  const at = sql`clock_timestamp() + ${wasVerified ? changeDelayMs : 0} * interval '1 ms'`;
  const period = (from: SQL, until: SQL) => sql`tstzmultirange(tstzrange(${from}, ${until}))`;
  const kept = sql`${periods} * ${period(sql`now() - ${keptDays} * interval '1 day'`, sql`null`)}`;
  const returnPathPeriods = isPublished
    ? sql`case when (select count(*) from unnest(${periods})) < ${periodsMax}
        then ${kept} + ${period(at, sql`null`)} else ${kept} end`
    : sql`${kept} * ${period(sql`null`, at)}`;
  return { returnPathPeriods };
}

/** SQL: the own return path of the domain in `row` for email of this time; null if it has none. */
export const ownReturnPathAt = (row: string, time: string): string =>
  `case when ${time} <@ ${row}.return_path_periods then ${row}.return_path_label || '.' || ${row}.name end`;

/**
 * The domain of a return path: with direct delivery the sender's own, else the installation's. Null: the
 * sender is the return path.
 */
export const returnPathDomainOf = (
  { names }: Pick<Deps, "names">,
  { ownReturnPath }: { ownReturnPath: string | null },
  isDirect: boolean,
): string | null => (isDirect ? ownReturnPath : null) ?? names.returnPathDomain;
