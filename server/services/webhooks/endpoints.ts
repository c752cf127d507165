import { and, asc, count, desc, eq, gt, lt, sql } from "drizzle-orm";
import { webhooks } from "#db/schema/webhooks";
import type { Ctx } from "#server/deps";
import { AppError, notFound } from "#server/errors";
import { newId } from "#server/ids";
import { recordAudit } from "../audit/record";
import { type Page, type PageQuery, pageOf } from "../paging";
import type { WebhookEvent } from "./event-types";
import { mintSigningSecret, openSigningSecret, sealSigningSecret } from "./secrets";

/** An endpoint without its secrets. */
export type Webhook = Omit<typeof webhooks.$inferSelect, "secret" | "previousSecret">;
export type WebhookChange = { url?: string; events?: WebhookEvent[]; status?: "enabled" | "disabled" };
export type SigningSecrets = { current: string; previous: { secret: string; until: Date } | null };

const endpointsMax = 100;

const columns = {
  id: webhooks.id,
  teamId: webhooks.teamId,
  url: webhooks.url,
  events: webhooks.events,
  status: webhooks.status,
  disabledReason: webhooks.disabledReason,
  previousUntil: webhooks.previousUntil,
  failingSince: webhooks.failingSince,
  failures: webhooks.failures,
  pausedUntil: webhooks.pausedUntil,
  createdAt: webhooks.createdAt,
};

const mine = (ctx: Ctx, id: string) => and(eq(webhooks.teamId, ctx.teamId), eq(webhooks.id, id));

/** Adds an endpoint. The signing secret is told here and, to who may, by `readSigningSecrets`. */
export async function createWebhook(
  ctx: Ctx,
  input: { url: string; events: WebhookEvent[]; status: Webhook["status"] },
): Promise<{ id: string; signingSecret: string }> {
  refuseUncallable(ctx, input.url);
  const id = newId();
  const signingSecret = mintSigningSecret();
  const [{ endpoints } = { endpoints: 0 }] = await ctx.db
    .select({ endpoints: count() })
    .from(webhooks)
    .where(eq(webhooks.teamId, ctx.teamId));
  if (endpoints >= endpointsMax)
    throw new AppError("conflict", `A team has at most ${endpointsMax} endpoints. Delete one first.`);
  await ctx.db.transaction(async (tx) => {
    await tx.insert(webhooks).values({
      id,
      teamId: ctx.teamId,
      url: input.url,
      events: input.events,
      status: input.status,
      secret: sealSigningSecret(ctx.vault, { id, teamId: ctx.teamId }, "secret", signingSecret),
    });
    await recordAudit(tx, ctx, {
      action: "webhook.created",
      subject: { id, name: input.url },
      detail: { events: input.events, status: input.status },
    });
  });
  return { id, signingSecret };
}

/** The team's endpoints, newest first. */
export async function listWebhooks(ctx: Ctx, query: PageQuery): Promise<Page<Webhook>> {
  return pageOf(query, (cursor, order, limit) =>
    ctx.db
      .select(columns)
      .from(webhooks)
      .where(
        and(
          eq(webhooks.teamId, ctx.teamId),
          cursor && (cursor.direction === "older" ? lt(webhooks.id, cursor.id) : gt(webhooks.id, cursor.id)),
        ),
      )
      .orderBy(order === "newest" ? desc(webhooks.id) : asc(webhooks.id))
      .limit(limit),
  );
}

export async function getWebhook(ctx: Ctx, id: string): Promise<Webhook> {
  const [webhook] = await ctx.db.select(columns).from(webhooks).where(mine(ctx, id));
  if (!webhook) throw notFound("Webhook");
  return webhook;
}

/**
 * The live signing secrets: the current one and, for a day after a rotation, the one before. Null for a key that may only
 * read: who knows a secret can write what looks like our calls.
 */
export async function readSigningSecrets(ctx: Ctx, id: string): Promise<SigningSecrets | null> {
  if (ctx.actor.kind === "key" && !ctx.actor.scopes.includes("webhooks:write")) return null;
  const [row] = await ctx.db
    .select({
      id: webhooks.id,
      teamId: webhooks.teamId,
      secret: webhooks.secret,
      previousSecret: webhooks.previousSecret,
      previousUntil: webhooks.previousUntil,
      isPreviousLive: sql<boolean>`coalesce(${webhooks.previousUntil} > now(), false)`,
    })
    .from(webhooks)
    .where(mine(ctx, id));
  if (!row) throw notFound("Webhook");
  const { previousSecret, previousUntil: until, isPreviousLive } = row;
  return {
    current: openSigningSecret(ctx.vault, row, "secret", row.secret),
    previous:
      isPreviousLive && previousSecret !== null && until !== null
        ? { secret: openSigningSecret(ctx.vault, row, "previous_secret", previousSecret), until }
        : null,
  };
}

/**
 * Changes what is given. Another URL, or enabling, begins anew: no run of failures, no pause. Disabling ends what waits to
 * be sent; it stays listed as failed and can be replayed.
 */
export async function updateWebhook(ctx: Ctx, id: string, change: WebhookChange): Promise<{ id: string }> {
  const { url, events, status } = change;
  if (url !== undefined) refuseUncallable(ctx, url);
  const beginsAnew = url !== undefined || status === "enabled";
  await ctx.db.transaction(async (tx) => {
    const [webhook] = await tx
      .update(webhooks)
      .set({
        url: url ?? sql`${webhooks.url}`,
        ...(events && { events }),
        ...(status && { status, disabledReason: null }),
        ...(beginsAnew && { failingSince: null, failures: 0, pausedUntil: null }),
      })
      .where(mine(ctx, id))
      .returning({ url: webhooks.url });
    if (!webhook) throw notFound("Webhook");
    await recordAudit(tx, ctx, {
      action: "webhook.changed",
      subject: { id, name: webhook.url },
      detail: { ...(url && { url }), ...(events && { events }), ...(status && { status }) },
    });
  });
  return { id };
}

/** Removes an endpoint with everything that was and would have been sent to it. */
export async function deleteWebhook(ctx: Ctx, id: string): Promise<{ id: string }> {
  await ctx.db.transaction(async (tx) => {
    const [webhook] = await tx.delete(webhooks).where(mine(ctx, id)).returning({ url: webhooks.url });
    if (!webhook) throw notFound("Webhook");
    await recordAudit(tx, ctx, { action: "webhook.deleted", subject: { id, name: webhook.url } });
  });
  return { id };
}

function refuseUncallable(ctx: Ctx, url: string): void {
  const fault = ctx.outside.checkUrl(url);
  if (fault !== null) throw new AppError("invalid", `Invalid \`endpoint\`: ${fault}`);
}
