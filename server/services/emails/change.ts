import { and, eq } from "drizzle-orm";
import { deliveries } from "#db/schema/deliveries";
import { type EmailStatus, emails } from "#db/schema/emails";
import { emailEvents } from "#db/schema/events";
import type { Ctx } from "#server/deps";
import { AppError, notFound } from "#server/errors";
import { newId } from "#server/ids";
import { recordAudit } from "../audit/record";
import { timeOf } from "./send";

/** Moves a scheduled mail to another time. One that is under way already is 409. */
export async function rescheduleEmail(ctx: Ctx, id: string, time: string): Promise<{ id: string }> {
  const at = timeOf(ctx, time);
  await ctx.db.transaction(async (tx) => {
    await holdScheduled({ ...ctx, db: tx }, id, "rescheduled");
    await tx.update(emails).set({ scheduledAt: at }).where(mine(ctx, id));
    await tx.update(deliveries).set({ dueAt: at }).where(waiting(ctx, id));
    await tx.insert(emailEvents).values({
      id: newId(),
      teamId: ctx.teamId,
      emailId: id,
      type: "email.scheduled",
      data: { nextAttemptAt: at.toISOString() },
    });
    await recordAudit(tx, ctx, {
      action: "email.rescheduled",
      subject: { id, name: null },
      detail: { scheduledAt: at.toISOString() },
    });
  });
  return { id };
}

/** Calls a scheduled mail off, for good. One that is under way already is 409. */
export async function cancelEmail(ctx: Ctx, id: string): Promise<{ id: string }> {
  await ctx.db.transaction(async (tx) => {
    await holdScheduled({ ...ctx, db: tx }, id, "canceled");
    await tx.update(emails).set({ status: "canceled" }).where(mine(ctx, id));
    await tx.update(deliveries).set({ status: "canceled" }).where(waiting(ctx, id));
    await tx
      .insert(emailEvents)
      .values({ id: newId(), teamId: ctx.teamId, emailId: id, type: "email.canceled" });
    await recordAudit(tx, ctx, { action: "email.canceled", subject: { id, name: null } });
  });
  return { id };
}

const mine = (ctx: Ctx, id: string) => and(eq(emails.teamId, ctx.teamId), eq(emails.id, id));

const waiting = (ctx: Ctx, id: string) =>
  and(eq(deliveries.teamId, ctx.teamId), eq(deliveries.emailId, id), eq(deliveries.status, "scheduled"));

/**
 * Locks a mail all of whose recipients are still scheduled. The rows of the recipients are locked too: a worker that
 * claims passes over them, and one that was first is seen here.
 */
async function holdScheduled(ctx: Ctx, id: string, verb: string): Promise<void> {
  const [email] = await ctx.db
    .select({ status: emails.status })
    .from(emails)
    .where(mine(ctx, id))
    .for("no key update");
  if (!email) throw notFound("Email");
  const rows = await ctx.db
    .select({ status: deliveries.status })
    .from(deliveries)
    .where(and(eq(deliveries.teamId, ctx.teamId), eq(deliveries.emailId, id)))
    .orderBy(deliveries.id)
    .for("update");
  const begun = rows.find(({ status }) => status !== "scheduled");
  if (!begun) return;
  const state: EmailStatus = email.status === "scheduled" ? begun.status : email.status;
  throw new AppError("conflict", `Only a scheduled mail can be ${verb}; this one is ${state}.`);
}
