import { and, eq } from "drizzle-orm";
import { deliveries } from "#db/schema/deliveries";
import { type EmailStatus, emails } from "#db/schema/emails";
import { emailEvents } from "#db/schema/events";
import type { Ctx } from "#server/deps";
import { AppError, notFound } from "#server/platform/errors";
import { isId, newId } from "#server/platform/ids";
import { recordAudit } from "../../audit/record";
import { parseScheduledAt } from "../accept/schedule";
import { requireLinkedDomain } from "./linked-domains";

/**
 * Changes the time of a scheduled email. 409 if it is already in progress, 403 if the key may not change it.
 */
export async function rescheduleEmail(ctx: Ctx, id: string, time: string): Promise<{ id: string }> {
  const at = parseScheduledAt(ctx, time);
  await ctx.db.transaction(async (tx) => {
    await lockScheduled({ ...ctx, db: tx }, id, "rescheduled");
    await tx.update(emails).set({ scheduledAt: at }).where(isEmail(ctx, id));
    await tx.update(deliveries).set({ dueAt: at }).where(isScheduledOf(ctx, id));
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

/**
 * Cancels a scheduled email permanently. 409 if it is already in progress, 403 if the key may not change it.
 */
export async function cancelEmail(ctx: Ctx, id: string): Promise<{ id: string }> {
  await ctx.db.transaction(async (tx) => {
    await lockScheduled({ ...ctx, db: tx }, id, "canceled");
    await tx.update(emails).set({ status: "canceled" }).where(isEmail(ctx, id));
    await tx.update(deliveries).set({ status: "canceled" }).where(isScheduledOf(ctx, id));
    await tx
      .insert(emailEvents)
      .values({ id: newId(), teamId: ctx.teamId, emailId: id, type: "email.canceled" });
    await recordAudit(tx, ctx, { action: "email.canceled", subject: { id, name: null } });
  });
  return { id };
}

/** Cancels scheduled emails one by one. Those that can no longer be canceled are returned with the reason. */
export async function cancelSelected(
  ctx: Ctx,
  ids: readonly string[],
): Promise<{ canceled: string[]; refused: { id: string; why: string }[] }> {
  const canceled: string[] = [];
  const refused: { id: string; why: string }[] = [];
  for (const id of ids) {
    try {
      await cancelEmail(ctx, id);
      canceled.push(id);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      refused.push({ id, why: error.message });
    }
  }
  return { canceled, refused };
}

const isEmail = (ctx: Ctx, id: string) => and(eq(emails.teamId, ctx.teamId), eq(emails.id, id));

const isScheduledOf = (ctx: Ctx, id: string) =>
  and(eq(deliveries.teamId, ctx.teamId), eq(deliveries.emailId, id), eq(deliveries.status, "scheduled"));

/**
 * Locks an email whose recipients are all still scheduled. The deliveries are locked too: a worker skips
 * locked rows when it claims, and a claim that was committed earlier is seen here.
 */
async function lockScheduled(ctx: Ctx, id: string, verb: string): Promise<void> {
  if (!isId(id)) throw notFound("Email");
  const [email] = await ctx.db
    .select({ status: emails.status, senderDomain: emails.senderDomain })
    .from(emails)
    .where(isEmail(ctx, id))
    .for("no key update");
  if (!email) throw notFound("Email");
  await requireLinkedDomain(ctx, email.senderDomain);
  const rows = await ctx.db
    .select({ status: deliveries.status })
    .from(deliveries)
    .where(and(eq(deliveries.teamId, ctx.teamId), eq(deliveries.emailId, id)))
    .orderBy(deliveries.id)
    .for("update");
  const started = rows.find(({ status }) => status !== "scheduled");
  if (!started) return;
  const state: EmailStatus = email.status === "scheduled" ? started.status : email.status;
  throw new AppError("conflict", `Only a scheduled email can be ${verb}. This one is ${state}.`);
}
