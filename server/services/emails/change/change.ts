import { and, eq, sql } from "drizzle-orm";
import { deliveries } from "#db/schema/deliveries";
import { type EmailStatus, emails } from "#db/schema/emails";
import { emailEvents } from "#db/schema/events";
import type { Ctx } from "#server/deps";
import { AppError, notFound } from "#server/platform/errors";
import { isId, newId } from "#server/platform/ids";
import { foldAddress } from "#server/shared/text/fold-address";
import { recordAudit } from "../../audit/record";
import { requireLinkedDomain } from "../../keys/linked-domains";
import { parseScheduledAt } from "../accept/schedule";
import { getEmail } from "../read/read";
import { type LockedDelivery, lockDeliveries } from "../status";
import { resetDeliveries } from "./reset-deliveries";

/**
 * Changes the time of a scheduled email. 409 if it is already in progress, 403 if the key may not change it.
 */
export async function rescheduleEmail(ctx: Ctx, id: string, time: string): Promise<{ id: string }> {
  const at = parseScheduledAt(ctx, time);
  await ctx.db.transaction(async (tx) => {
    await lockScheduled({ ...ctx, db: tx }, id, "rescheduled");
    await tx.update(emails).set({ scheduledAt: at }).where(isEmail(ctx, id));
    // A delivery that is held after a restore stays held. Its release uses the new time.
    await tx
      .update(deliveries)
      .set({ dueAt: at })
      .where(and(isScheduledOf(ctx, id), sql`${deliveries.waitRule} is distinct from 'restored'`));
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
    await cancelScheduled({ ...ctx, db: tx }, id);
    await recordAudit(tx, ctx, { action: "email.canceled", subject: { id, name: null } });
  });
  return { id };
}

/**
 * Cancels scheduled emails in one transaction, with one entry of the audit log. Those that can no longer be
 * canceled are returned with the reason.
 */
export async function cancelSelected(
  ctx: Ctx,
  ids: readonly string[],
): Promise<{ canceled: string[]; refused: { id: string; why: string }[] }> {
  const canceled: string[] = [];
  const refused: { id: string; why: string }[] = [];
  await ctx.db.transaction(async (tx) => {
    // In one order, so two callers with common emails cannot deadlock.
    for (const id of [...new Set(ids)].sort()) {
      try {
        await cancelScheduled({ ...ctx, db: tx }, id);
        canceled.push(id);
      } catch (error) {
        if (!(error instanceof AppError)) throw error;
        refused.push({ id, why: error.message });
      }
    }
    const [only, ...others] = canceled;
    if (only === undefined) return;
    await recordAudit(
      tx,
      ctx,
      others.length === 0
        ? { action: "email.canceled", subject: { id: only, name: null } }
        : { action: "email.canceled_many", counts: { mails: canceled.length } },
    );
  });
  return { canceled, refused };
}

/** Cancels an email within a transaction. An AppError is thrown before anything is written. */
async function cancelScheduled(ctx: Ctx, id: string): Promise<void> {
  await lockScheduled(ctx, id, "canceled");
  await ctx.db.update(emails).set({ status: "canceled" }).where(isEmail(ctx, id));
  await ctx.db.update(deliveries).set({ status: "canceled" }).where(isScheduledOf(ctx, id));
  await ctx.db
    .insert(emailEvents)
    .values({ id: newId(), teamId: ctx.teamId, emailId: id, type: "email.canceled" });
}

const isEmail = (ctx: Ctx, id: string) => and(eq(emails.teamId, ctx.teamId), eq(emails.id, id));

const isScheduledOf = (ctx: Ctx, id: string) =>
  and(eq(deliveries.teamId, ctx.teamId), eq(deliveries.emailId, id), eq(deliveries.status, "scheduled"));

/** Locks an email whose recipients are all still scheduled, so that no worker claims one of them. */
async function lockScheduled(ctx: Ctx, id: string, verb: string): Promise<void> {
  if (!isId(id)) throw notFound("Email");
  const [email] = await ctx.db
    .select({ status: emails.status, senderDomain: emails.senderDomain })
    .from(emails)
    .where(isEmail(ctx, id))
    .for("no key update");
  if (!email) throw notFound("Email");
  await requireLinkedDomain(ctx, email.senderDomain);
  const { teamId } = ctx;
  const rows = await ctx.db.execute<LockedDelivery>(lockDeliveries(sql, { teamId, emailId: id }));
  const started = rows.find(({ status }) => status !== "scheduled");
  if (!started) return;
  const state: EmailStatus = email.status === "scheduled" ? started.status : email.status;
  throw new AppError("conflict", `Only a scheduled email can be ${verb}. This one is ${state}.`);
}

/**
 * `retry`: send again, so the email may be delivered twice. `sent`: mark as sent, so it may never have been
 * delivered. `failed`: mark as failed, so it may have been delivered; it can be retried later.
 */
export const SETTLINGS = ["retry", "sent", "failed"] as const;
export type Settling = (typeof SETTLINGS)[number];

/**
 * Resolves the unknown outcomes of an email, for all its recipients or those named. Returns the addresses.
 * 409 with the reason if no outcome is unknown, 422 if an address is not a recipient or its outcome is known,
 * 403 if the key may not change the email.
 */
export async function settleEmail(
  ctx: Ctx,
  id: string,
  { as, recipients }: { as: Settling; recipients: string[] | null },
): Promise<string[]> {
  const email = await getEmail(ctx, id);
  await requireLinkedDomain(ctx, email.senderDomain);
  const unknown = email.deliveries.filter(({ status }) => status === "unknown").map(({ address }) => address);
  if (unknown.length === 0)
    throw new AppError(
      "conflict",
      `Only unknown outcomes can be resolved. This email is ${email.status}. Under the team policy \`retry\`, unknown outcomes are retried automatically.`,
    );
  const folded = unknown.map(foldAddress);
  const wanted = recipients?.map(foldAddress);
  const other = recipients?.find((address) => !folded.includes(foldAddress(address)));
  if (other !== undefined)
    throw new AppError(
      "invalid",
      `The outcome of ${other} is not unknown. Recipients with an unknown outcome: ${unknown.join(", ")}.`,
    );
  const settled = await resetDeliveries(
    ctx,
    {
      emailIds: [id],
      states: ["unknown"],
      addresses: unknown.filter((address) => wanted?.includes(foldAddress(address)) ?? true),
      to: as === "retry" ? "queued" : as,
    },
    ({ length }) => ({
      action: "email.settled",
      subject: { id, name: null },
      detail: { as, recipients: length },
    }),
  );
  return settled.map(({ address }) => address);
}
