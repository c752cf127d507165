import { and, asc, eq, inArray } from "drizzle-orm";
import { deliveries } from "#db/schema/deliveries";
import type { EmailStatus } from "#db/schema/emails";
import type { Ctx } from "#server/deps";
import type { EmailSummary } from "#server/shared/wire/email";
import { listEmails } from "../emails/read/list";

const FAILED: readonly EmailStatus[] = ["complained", "bounced", "failed", "unknown"];

/** A failed email, the recipient that determines its status, and the last reason. */
export type Failure = { email: EmailSummary; recipient: string; reason: string | null };

/** The newest failed emails. */
export async function listFailures(ctx: Ctx, limit: number): Promise<Failure[]> {
  const found = await Promise.all(FAILED.map((status) => listEmails(ctx, { status, limit })));
  const newest = found
    .flatMap(({ rows }) => rows)
    .sort((a, b) => (a.id < b.id ? 1 : -1))
    .slice(0, limit);
  if (newest.length === 0) return [];
  const rows = await ctx.db
    .select({
      emailId: deliveries.emailId,
      address: deliveries.address,
      status: deliveries.status,
      reason: deliveries.lastReason,
    })
    .from(deliveries)
    .where(
      and(
        eq(deliveries.teamId, ctx.teamId),
        inArray(
          deliveries.emailId,
          newest.map(({ id }) => id),
        ),
      ),
    )
    .orderBy(asc(deliveries.position));
  return newest.map((email) => {
    const worst = rows.find((row) => row.emailId === email.id && row.status === email.status);
    // The last reply for an email with a complaint is its acceptance, which is not the reason.
    const reason = email.status === "complained" ? null : (worst?.reason ?? null);
    return { email, recipient: worst?.address ?? email.to[0] ?? "", reason };
  });
}
