import { type SQL, sql } from "drizzle-orm";
import type { TransactionSql } from "postgres";
import type { Db } from "#db/client";
import type { AuditDetail } from "#db/schema/audit";
import { BUILT_IN_DOMAIN } from "#db/schema/domains";
import { type SuppressionOrigin, type SuppressionRow, suppressions } from "#db/schema/suppressions";
import { type Columns, writeStatement } from "#db/statement";
import type { Ctx } from "#server/deps";
import { notFound } from "#server/platform/errors";
import { newId } from "#server/platform/ids";
import { foldAddress } from "#server/shared/text/fold-address";
import { presentSuppression, type Suppression, suppressionOf } from "#server/shared/wire/suppression";
import type { AuditAction } from "../audit/actions";
import { type Command, recordAudit } from "../audit/record";
import { announce } from "../webhooks/events/announce";
import { isNamed, type SuppressionName } from "./read";

/*
 * What suppresses an address. Every path adds entries through `addEntries`:
 *
 * - A hard bounce: origin `bounce`, blocks all email. An SMTP reply (delivery/attempt/outcome.ts), a message
 *   or a callback (services/returns/record.ts).
 * - A complaint: origin `complaint`, blocks all email. A feedback report or a callback
 *   (services/returns/record.ts).
 * - An unsubscribe link, or an unsubscribe at the provider of a relay: origin `unsubscribe`, blocks email
 *   sent with `list_unsubscribe`, or with the name of a list (`unsubscribe`).
 * - The API and the console: origin `manual`, blocks all email (`addSuppressions`).
 * - A CSV file and the file of a provider: as imported (`addNewSuppressions`).
 *
 * A bounce suppresses its address only if the code says that the address does not exist
 * (mail/bounce/dead-address.ts), or if the provider of the relay says so or has the address on its own
 * suppression list (services/callbacks/record.ts). Returned messages, feedback reports and callbacks count
 * only if they are verified to belong to one of our deliveries (services/returns). Recipients of the
 * built-in domain are never suppressed by their outcomes (`reportedEntry`). An entry stays until a member or
 * a program removes it (`removeSuppressions`).
 *
 * A new entry, and one that now blocks more email, sends `suppression.added` to the team's endpoints.
 */

/**
 * How a new cause updates an existing entry. `report` returns only entries that it wrote; `request` returns
 * all.
 */
const IF_LISTED = {
  /** A bounce or complaint replaces an unsubscribe. */
  report: `set origin = excluded.origin, source_email_id = excluded.source_email_id, lists_only = false, lists = null
    where suppressions.lists_only`,
  /**
   * The entry blocks what either of them blocks. One that blocked all email keeps its origin, as does one
   * that still is an unsubscribe.
   */
  request: `set lists_only = suppressions.lists_only and excluded.lists_only,
    origin = case when suppressions.lists_only and not excluded.lists_only then excluded.origin else suppressions.origin end,
    lists = case when suppressions.lists_only and excluded.lists_only and suppressions.lists is not null
      and excluded.lists is not null then array(select unnest(suppressions.lists) union select unnest(excluded.lists) order by 1) end`,
};

/** SQL: the entry `s` blocks more email than the entry `o` did, which it was before. */
const IS_WIDENED = "(o.lists_only, o.lists) is distinct from (s.lists_only, s.lists)";

/** The statement reads the table as it was before its own changes. */
const IS_ANNOUNCED = {
  report: "true",
  request: `(s.id in (select id from entry)
    or exists (select from suppressions o where o.team_id = s.team_id and o.id = s.id and ${IS_WIDENED}))`,
};

/**
 * SQL that adds the rows of the common table expression `entry` (team_id, id, address, origin,
 * source_email_id, lists_only, lists) and queues their events. If several rows have the same address, one is
 * used. `suppressed` contains the written entries; an entry whose id differs from the proposed one existed
 * before. With `created_at`, `entry` also has the times of new entries.
 */
export const addEntries = (
  cause: keyof typeof IF_LISTED,
  createdAt: "now()" | "created_at" = "now()",
): string => `
suppressed as (
  insert into suppressions (team_id, id, address, origin, source_email_id, lists_only, lists, created_at)
  select distinct on (team_id, address collate "C") team_id, id, address, origin, source_email_id, lists_only, lists, ${createdAt}
  from entry order by team_id, address collate "C"
  on conflict (team_id, address) do update ${IF_LISTED[cause]}
  returning *
), announced as (
  insert into webhook_deliveries (id, team_id, webhook_id, type, data)
  select uuid_v7(), s.team_id, w.id, 'suppression.added', to_jsonb(s)
  from suppressed s join webhooks w on w.team_id = s.team_id and w.status = 'enabled' and 'suppression.added' = any(w.events)
  where ${IS_ANNOUNCED[cause]}
  for key share of w
)`;

/** An entry that a bounce or a complaint causes. */
export type ReportedEntry = { id: string; address: string; origin: SuppressionOrigin };

/** The entry for a recipient; null for scripted recipients, which are never suppressed by their outcomes. */
export const reportedEntry = (
  origin: SuppressionOrigin,
  { address, domain }: { address: string; domain: string },
): ReportedEntry | null =>
  domain === BUILT_IN_DOMAIN ? null : { id: newId(), address: foldAddress(address), origin };

type ReportedRow = ReportedEntry & { teamId: string; emailId: string };

const REPORTED: Columns<ReportedRow> = {
  team_id: ["uuid", ({ teamId }) => teamId],
  id: ["uuid", ({ id }) => id],
  address: ["text", ({ address }) => address],
  origin: ["text", ({ origin }) => origin],
  source_email_id: ["uuid", ({ emailId }) => emailId],
};

const addReported = writeStatement<{ entries: ReportedRow[] }>(
  ({ rows }) => `
with entry as (select *, false as lists_only, null::text[] as lists from ${rows("entries", REPORTED)} as r), ${addEntries("report")}
select from suppressed`,
);

/** Suppresses the recipient of an email after a bounce or a complaint. */
export async function suppressReported(
  tx: TransactionSql,
  { teamId, emailId }: { teamId: string; emailId: string },
  entry: ReportedEntry,
): Promise<void> {
  await addReported(tx, { entries: [{ ...entry, teamId, emailId }] });
  // A complaint replaces a bounce without an event: the address was suppressed already.
  if (entry.origin === "complaint")
    await tx`
      update suppressions set origin = 'complaint', source_email_id = ${emailId}
      where team_id = ${teamId} and address = ${entry.address} and origin = 'bounce'`;
}

/**
 * Adds entries that a person requests. Returns them, and existing entries with the same addresses.
 * `isWidened`: the entry existed and now blocks more email. `listsBefore`: the lists that it blocked before.
 */
export async function addRequested(
  tx: Db,
  entry: SQL,
  createdAt: Parameters<typeof addEntries>[1] = "now()",
): Promise<(Suppression & { isWidened: boolean; listsBefore: string[] })[]> {
  const rows = await tx.execute<{ row: SuppressionRow; is_widened: boolean; before: string[] | null }>(sql`
    with entry as (${entry}), ${sql.raw(addEntries("request", createdAt))}
    select to_jsonb(s) as row, o.id is not null and ${sql.raw(IS_WIDENED)} as is_widened, o.lists as before
    from suppressed s left join suppressions o on o.team_id = s.team_id and o.id = s.id`);
  return rows.map(({ row, is_widened, before }) => ({
    ...suppressionOf(row),
    isWidened: is_widened,
    listsBefore: before ?? [],
  }));
}

/** An entry to import; `createdAt` is when another service suppressed the address. Default: now. */
export type NewSuppression = Pick<Suppression, "address" | "origin" | "sourceEmailId" | "listsOnly"> & {
  lists?: string[] | null;
  createdAt?: Date | null;
};

/**
 * `ids` has one id per requested address, in the same order. `added` contains only the new entries. `changed`
 * is the number of entries that blocked only some email, and now block more.
 */
export type AddResult = { ids: string[]; added: Suppression[]; changed: number };

/**
 * The audit action with further detail, and a callback for progress: how many entries are written while the
 * transaction is still open.
 */
export type AddOptions = {
  action?: Extract<AuditAction, "suppression.added" | "suppression.imported">;
  detail?: AuditDetail;
  /** The import of which these entries are a part; it has one entry in the audit log. */
  command?: Command;
  onWritten?: (count: number, of: number) => void;
};

/** Rows of one statement. Other requests run between two statements. */
const rowsMax = 5_000;

/**
 * Adds addresses to the team's suppression list with the origin `manual`. Existing entries keep their origin.
 */
export const addSuppressions = (ctx: Ctx, addresses: readonly string[]): Promise<AddResult> =>
  addNewSuppressions(
    ctx,
    addresses.map((address) => ({ address, origin: "manual", sourceEmailId: null, listsOnly: false })),
  );

/**
 * The same for entries with an origin. A `sourceEmailId` that is not an email of the team becomes null. All
 * are committed together, with the webhooks for the new entries.
 */
export async function addNewSuppressions(
  ctx: Ctx,
  entries: readonly NewSuppression[],
  { action = "suppression.added", detail = {}, command, onWritten }: AddOptions = {},
): Promise<AddResult> {
  // The ids are in the order of the entries, as the list shows them.
  const byAddress = new Map<string, NewSuppression & { id: string }>();
  for (const entry of entries) {
    const address = foldAddress(entry.address);
    if (!byAddress.has(address)) byAddress.set(address, { ...entry, address, id: newId() });
  }
  // In one order, so two callers with common addresses cannot deadlock.
  const wanted = [...byAddress.values()].sort((a, b) => (a.address < b.address ? -1 : 1));
  const ids = new Map<string, string>();
  const added: Suppression[] = [];
  let changed = 0;
  await ctx.db.transaction(async (tx) => {
    for (let at = 0; at < wanted.length; at += rowsMax) {
      const part = wanted.slice(at, at + rowsMax);
      const proposed = part.map(({ id }) => id);
      const own = new Set(proposed);
      const column = (of: (entry: NewSuppression) => unknown) => sql.param(part.map(of));
      // Arrays instead of rows of values: building row values takes longer than writing them.
      const rows = await addRequested(
        tx,
        sql`
          select ${ctx.teamId}::uuid as team_id, a.id, a.address, a.origin, e.id as source_email_id,
            a.lists_only::boolean as lists_only,
            (select array_agg(l) from jsonb_array_elements_text(a.lists::jsonb) l) as lists,
            least(coalesce(a.created_at::timestamptz, now()), now()) as created_at
          from unnest(${sql.param(proposed)}::uuid[], ${column(({ address }) => address)}::text[],
            ${column(({ origin }) => origin)}::text[], ${column(({ sourceEmailId }) => sourceEmailId)}::uuid[],
            ${column(({ listsOnly }) => String(listsOnly))}::text[],
            ${column(({ lists }) => (lists ? JSON.stringify(lists) : null))}::text[],
            ${column(({ createdAt }) => createdAt?.toISOString() ?? null)}::text[])
            as a(id, address, origin, source, lists_only, lists, created_at)
          left join emails e on e.team_id = ${ctx.teamId} and e.id = a.source`,
        "created_at",
      );
      for (const { address, id } of rows) ids.set(address, id);
      for (const { isWidened, listsBefore: _, ...row } of rows) {
        if (own.has(row.id)) added.push(row);
        if (isWidened) changed++;
      }
      onWritten?.(Math.min(at + rowsMax, wanted.length), wanted.length);
    }
    if (added.length + changed > 0)
      await recordAudit(tx, ctx, {
        action,
        ...(action === "suppression.added" && subjectOf(added)),
        detail,
        counts: { count: added.length, changed },
        ...(command && { command }),
      });
  });
  if (added.length > 0) ctx.wake();
  return { ids: entries.map(({ address }) => ids.get(foldAddress(address)) ?? ""), added, changed };
}

/**
 * Removes entries from the team's suppression list, all by id or all by address, with the webhooks for them.
 * Returns the entries that existed. New emails are sent to these addresses again; emails that were suppressed
 * before are not.
 */
export async function removeSuppressions(
  ctx: Ctx,
  names: readonly SuppressionName[],
): Promise<Suppression[]> {
  if (names.length === 0) return [];
  const removed = await ctx.db.transaction(async (tx) => {
    // Locked in one order first, so two callers with common entries cannot deadlock.
    const locked = await tx
      .select({ id: suppressions.id })
      .from(suppressions)
      .where(isNamed(ctx, names))
      .orderBy(sql`${suppressions.address} collate "C"`)
      .for("update");
    if (locked.length === 0) return [];
    const rows = await tx.delete(suppressions).where(isNamed(ctx, locked)).returning();
    await announce({ ...ctx, db: tx }, "suppression.removed", ...rows.map(presentSuppression));
    await recordAudit(tx, ctx, {
      action: "suppression.removed",
      ...subjectOf(rows),
      detail: { count: rows.length, origins: [...new Set(rows.map(({ origin }) => origin))] },
    });
    return rows;
  });
  if (removed.length > 0) ctx.wake();
  return removed;
}

/** The same for a single entry; 404 if it does not exist. */
export async function removeSuppression(ctx: Ctx, name: SuppressionName): Promise<Suppression> {
  const [removed] = await removeSuppressions(ctx, [name]);
  if (!removed) throw notFound("Suppression");
  return removed;
}

/** The subject of the audit entry: a single entry is named; for several only the count is recorded. */
const subjectOf = (rows: readonly Suppression[]) => {
  const [only, ...others] = rows;
  return only && others.length === 0 ? { subject: { id: only.id, name: only.address } } : {};
};
