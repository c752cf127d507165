import { and, eq, inArray, type SQL, sql } from "drizzle-orm";
import { foldAddress } from "#db/fold-address";
import { deliveries } from "#db/schema/deliveries";
import { emails } from "#db/schema/emails";
import { type SuppressionOrigin, suppressions } from "#db/schema/suppressions";
import type { Ctx } from "#server/deps";
import { parseMailbox } from "#server/mail/address";
import { type Page, type PageQuery, pageOf } from "../paging";
import type { Suppression } from "./present";

/** Behind every text that begins with the same letters, in the order of bytes in which the index keeps addresses. */
const LAST = "\u{10ffff}";

/**
 * The team's entries whose address begins with these letters, in any letter case, in the order of the alphabet. A whole
 * address finds itself, also where it is written with a name or in letters that DNS spells otherwise.
 */
export async function searchSuppressions(
  ctx: Ctx,
  query: PageQuery & { prefix: string; origin?: SuppressionOrigin | undefined },
): Promise<Page<Suppression>> {
  const { address } = suppressions;
  // Its operators, and not those of the database's own collation, are the ones that the index answers.
  const placeOf = (id: string) =>
    sql`(select c.address from suppressions c where c.team_id = ${ctx.teamId} and c.id = ${id})`;
  return pageOf(query, (cursor, order, limit) =>
    ctx.db
      .select()
      .from(suppressions)
      .where(
        and(
          eq(suppressions.teamId, ctx.teamId),
          beginsWith(query.prefix),
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

/** That an address begins with these letters, or is the one that they are. */
export function beginsWith(letters: string): SQL {
  const whole = parseMailbox(letters);
  const prefix = foldAddress(whole.ok ? whole.mailbox.address : letters);
  const { address } = suppressions;
  return sql`${address} ~>=~ ${prefix} and ${address} ~<~ ${prefix + LAST}`;
}

/** The mail that showed that an address is dead, and what the host answered; null where it answered nothing. */
export type Source = { emailId: string; reply: string | null };

/** The mails behind these entries, by the entry's id; those that are no longer kept are left out. */
export async function readSources(ctx: Ctx, rows: readonly Suppression[]): Promise<Map<string, Source>> {
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
    const ofMail = found.filter(({ emailId }) => emailId === row.sourceEmailId);
    const [first] = ofMail;
    if (!first) continue;
    const own = ofMail.find(({ address }) => foldAddress(address) === row.address);
    const said = own ? [own.code, own.enhanced, own.text].filter((part) => part !== null && part !== "") : [];
    sources.set(row.id, { emailId: first.emailId, reply: said.join(" ") || null });
  }
  return sources;
}
