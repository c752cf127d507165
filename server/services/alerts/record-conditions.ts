import type { HotSql } from "#db/client";
import { newId } from "#server/platform/ids";
import { type AlertKind, alertKind, type Condition } from "./kinds";

/** Resolved alerts are kept this long. */
const keptDays = 30;
const textCharsMax = 1_000;

/**
 * Records which conditions of these kinds hold now, in one transaction: alerts open after their condition
 * held for the time of their kind, and are resolved after it was absent for theirs. Kinds that were not read
 * stay as they are.
 */
export async function recordConditions(
  hot: HotSql,
  kinds: readonly AlertKind[],
  conditions: readonly Condition[],
): Promise<void> {
  const sorted = [...conditions].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  const of = (column: (condition: Condition) => string) =>
    sorted.map((condition) => column(condition).slice(0, textCharsMax));
  const opens = kinds.map((kind) => alertKind(kind).openAfterMinutes ?? 0);
  const resolves = kinds.map((kind) => alertKind(kind).resolveAfterMinutes ?? 0);
  await hot.begin(async (tx) => {
    await tx`
      insert into alerts as a (id, team_id, kind, subject, name, message)
      select c.id, c.team_id, c.kind, c.subject, c.name, c.message
      from unnest(${sorted.map(newId)}::uuid[], ${sorted.map(({ teamId }) => teamId)}::uuid[],
        ${of(({ kind }) => kind)}::text[], ${of(({ subject }) => subject)}::text[], ${of(({ name }) => name)}::text[],
        ${of(({ message }) => message)}::text[]) as c(id, team_id, kind, subject, name, message)
      where c.team_id is null or exists (select from teams t where t.id = c.team_id)
      on conflict (team_id, kind, subject) do update
      set name = excluded.name, message = excluded.message, last_seen_at = now(), cleared_at = null,
        first_seen_at = case when a.cleared_at is null then a.first_seen_at else now() end`;
    await tx`
      update alerts set cleared_at = now()
      where kind = any(${[...kinds]}::text[]) and last_seen_at < now() and cleared_at is null`;
    await tx`delete from alerts where cleared_at is not null and opened_at is null`;
    await tx`
      update alerts a set opened_at = now(), resolved_at = null
      from unnest(${[...kinds]}::text[], ${opens}::int[]) as k(kind, minutes)
      where a.kind = k.kind and a.cleared_at is null and (a.opened_at is null or a.resolved_at is not null)
        and a.first_seen_at <= now() - k.minutes * interval '1 minute'`;
    await tx`
      update alerts a set resolved_at = now()
      from unnest(${[...kinds]}::text[], ${resolves}::int[]) as k(kind, minutes)
      where a.kind = k.kind and a.opened_at is not null and a.resolved_at is null
        and a.cleared_at <= now() - k.minutes * interval '1 minute'`;
    await tx`
      delete from alerts
      where resolved_at < now() - ${keptDays} * interval '1 day' and cleared_at is not null and not is_announced`;
  });
}

/**
 * Rows are always written in this order, so that two rounds at the same time do not wait for each other
 * forever.
 */
const keyOf = ({ kind, teamId, subject }: Condition): string => `${teamId} ${kind} ${subject}`;
