import { and, eq, inArray, type SQL, sql } from "drizzle-orm";
import { deliveries } from "#db/schema/deliveries";
import { emails } from "#db/schema/emails";
import { type SuppressionOrigin, suppressions } from "#db/schema/suppressions";
import type { Ctx } from "#server/deps";
import { parseMailbox } from "#server/mail/address/address";
import { foldAddress } from "#server/shared/text/fold-address";
import type { Suppression } from "#server/shared/wire/suppression";
import { type Page, type PageQuery, pageOf, requireCursor } from "../paging";
import { erasedFormOf } from "./erased";

/** Sorts after every text with the same prefix, in the byte order of the index. */
const LAST = "\u{10ffff}";

/**
 * The team's entries whose address begins with `prefix`, case-insensitive, in alphabetical order. A full
 * address also matches if it is written with a display name or with an internationalized domain.
 */
export async function searchSuppressions(
  ctx: Ctx,
  query: PageQuery & { prefix: string; origin?: SuppressionOrigin | undefined },
): Promise<Page<Suppression>> {
  const { address } = suppressions;
  await requireCursor(ctx, suppressions, query);
  // These operators compare bytes, as the index does, and do not depend on the collation of the database.
  const placeOf = (id: string) =>
    sql`(select c.address from suppressions c where c.team_id = ${ctx.teamId} and c.id = ${id})`;
  return pageOf(query, (cursor, order, limit) =>
    ctx.db
      .select()
      .from(suppressions)
      .where(
        and(
          eq(suppressions.teamId, ctx.teamId),
          beginsWith(ctx.teamId, query.prefix),
          query.origin && eq(suppressions.origin, query.origin),
          cursor &&
            (cursor.direction === "older"
              ? sql`${address} ~>~ ${placeOf(cursor.id)}`
              : sql`${address} ~<~ ${placeOf(cursor.id)}`),
        ),
      )
      .orderBy(order === "newest" ? sql`${address} using ~<~` : sql`${address} using ~>~`)
      .limit(limit),
  );
}

/**
 * Matches addresses that begin with these letters, or are equal to them; also the entry that is left of an
 * erased address.
 */
export function beginsWith(teamId: string, letters: string): SQL {
  const parsed = parseMailbox(letters);
  const prefix = foldAddress(parsed.ok ? parsed.mailbox.address : letters);
  const { address } = suppressions;
  const begins = sql`${address} ~>=~ ${prefix} and ${address} ~<~ ${prefix + LAST}`;
  return parsed.ok ? sql`(${begins} or ${address} = ${erasedFormOf(teamId, prefix)})` : begins;
}

/** The email that caused an entry: the host's reply, or null if there was none. */
export type Source = { reply: string | null };

/** The source emails of these entries, keyed by entry id. Emails that were deleted are omitted. */
export async function getSources(ctx: Ctx, rows: readonly Suppression[]): Promise<Map<string, Source>> {
  const wanted = rows.flatMap(({ sourceEmailId }) => sourceEmailId ?? []);
  if (wanted.length === 0) return new Map();
  const found = await ctx.db
    .select({
      emailId: emails.id,
      address: deliveries.address,
      code: deliveries.lastCode,
      enhanced: deliveries.lastEnhanced,
      text: deliveries.lastText,
    })
    .from(emails)
    .innerJoin(deliveries, and(eq(deliveries.teamId, emails.teamId), eq(deliveries.emailId, emails.id)))
    .where(and(eq(emails.teamId, ctx.teamId), inArray(emails.id, wanted)));
  const sources = new Map<string, Source>();
  for (const row of rows) {
    const ofEmail = found.filter(({ emailId }) => emailId === row.sourceEmailId);
    if (ofEmail.length === 0) continue;
    const own = ofEmail.find(({ address }) => foldAddress(address) === row.address);
    const reply = own
      ? [own.code, own.enhanced, own.text].filter((part) => part !== null && part !== "")
      : [];
    sources.set(row.id, { reply: reply.join(" ") || null });
  }
  return sources;
}
