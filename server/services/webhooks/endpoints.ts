import { and, desc, eq, getTableColumns, sql } from "drizzle-orm";
import type { Db } from "#db/client";
import { webhooks } from "#db/schema/webhooks";
import type { Ctx } from "#server/deps";
import { AppError, invalidField, notFound } from "#server/platform/errors";
import { newId } from "#server/platform/ids";
import { UnknownSecretError } from "#server/platform/secrets/vault";
import type { SigningSecrets, Webhook } from "#server/shared/wire/webhook";
import { recordAudit } from "../audit/record";
import { lockTeam } from "../lock-team";
import { type Page, type PageQuery, pageById } from "../paging";
import type { WebhookEvent } from "./events/types";
import { createSigningSecret, openSigningSecret, previousSecretHours, sealSigningSecret } from "./signing";

export type WebhookChange = { url?: string; events?: WebhookEvent[]; status?: "enabled" | "disabled" };

/** Maximum number of endpoints of a team. They fit on one page. */
export const endpointsMax = 100;

const { secret: _, previousSecret: __, ...columns } = getTableColumns(webhooks);

const mine = (ctx: Ctx, id: string) => and(eq(webhooks.teamId, ctx.teamId), eq(webhooks.id, id));

/**
 * Adds an endpoint and returns its signing secret. Later, `getSigningSecrets` returns it to callers with
 * permission.
 */
export async function createWebhook(
  ctx: Ctx,
  input: { url: string; events: WebhookEvent[]; status: Webhook["status"] },
): Promise<{ id: string; signingSecret: string }> {
  rejectUncallableUrl(ctx, input.url);
  const id = newId();
  const signingSecret = createSigningSecret();
  await ctx.db.transaction(async (tx) => {
    await lockTeam(tx, ctx.teamId);
    if ((await tx.$count(webhooks, eq(webhooks.teamId, ctx.teamId))) >= endpointsMax)
      throw new AppError("conflict", `A team has at most ${endpointsMax} endpoints. Delete one first.`);
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
export const listWebhooks = (ctx: Ctx, query: PageQuery): Promise<Page<Webhook>> =>
  pageById(ctx, webhooks, query, { select: () => ctx.db.select(columns).from(webhooks).$dynamic() });

/** The newest endpoints of the team that have this text in their URL, in any letter case. */
export const findWebhooksByUrl = (
  ctx: Ctx,
  { part, limit }: { part: string; limit: number },
): Promise<{ id: string; url: string }[]> =>
  ctx.db
    .select({ id: webhooks.id, url: webhooks.url })
    .from(webhooks)
    .where(and(eq(webhooks.teamId, ctx.teamId), sql`strpos(lower(${webhooks.url}), lower(${part})) > 0`))
    .orderBy(desc(webhooks.id))
    .limit(limit);

export async function getWebhook(ctx: Ctx, id: string): Promise<Webhook> {
  const [webhook] = await ctx.db.select(columns).from(webhooks).where(mine(ctx, id));
  if (!webhook) throw notFound("Webhook");
  return webhook;
}

/**
 * The active signing secrets: the current one and, for 24 hours after a rotation, the previous one. Null for
 * a key with read-only scope: a secret allows forging our calls.
 */
export async function getSigningSecrets(ctx: Ctx, id: string): Promise<SigningSecrets | null> {
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
 * Replaces the signing secret of an endpoint. The previous secret also signs for 24 hours, or until the next
 * rotation: at most two secrets are active.
 */
export async function rotateSigningSecret(
  ctx: Ctx,
  id: string,
): Promise<{ id: string; signingSecret: string }> {
  const signingSecret = createSigningSecret();
  await ctx.db.transaction(async (tx) => {
    const [row] = await tx
      .select({ id: webhooks.id, teamId: webhooks.teamId, secret: webhooks.secret, url: webhooks.url })
      .from(webhooks)
      .where(mine(ctx, id))
      .for("no key update");
    if (!row) throw notFound("Webhook");
    const previous = openPrevious(ctx, row);
    await tx
      .update(webhooks)
      .set({
        secret: sealSigningSecret(ctx.vault, row, "secret", signingSecret),
        previousSecret: previous && sealSigningSecret(ctx.vault, row, "previous_secret", previous),
        previousUntil: previous === null ? null : sql`now() + ${previousSecretHours} * interval '1 hour'`,
      })
      .where(mine(ctx, id));
    await recordAudit(tx, ctx, { action: "webhook.secret_rotated", subject: { id, name: row.url } });
  });
  return { id, signingSecret };
}

/**
 * The secret that a rotation replaces; null if it was encrypted with a lost secret, so that a rotation
 * repairs the endpoint.
 */
function openPrevious({ vault }: Ctx, row: { id: string; teamId: string; secret: string }): string | null {
  try {
    return openSigningSecret(vault, row, "secret", row.secret);
  } catch (error) {
    if (error instanceof UnknownSecretError) return null;
    throw error;
  }
}

/**
 * Updates the given fields. A new URL, or enabling, clears recorded failures and any pause. Disabling marks
 * all pending event deliveries as failed; they stay listed and can be replayed.
 */
export async function updateWebhook(ctx: Ctx, id: string, change: WebhookChange): Promise<{ id: string }> {
  const { url, events, status } = change;
  if (url !== undefined) rejectUncallableUrl(ctx, url);
  const resetsFailures = url !== undefined || status === "enabled";
  await ctx.db.transaction(async (tx) => {
    const [webhook] = await tx
      .update(webhooks)
      .set({
        url: url ?? sql`${webhooks.url}`,
        ...(events && { events }),
        ...(status && { status, disabledReason: null }),
        ...(resetsFailures && { failingSince: null, failures: 0, pausedUntil: null }),
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

/** Deletes an endpoint with all its event deliveries. */
export async function deleteWebhook(ctx: Ctx, id: string): Promise<{ id: string }> {
  await ctx.db.transaction(async (tx) => {
    const [webhook] = await tx
      .select({ url: webhooks.url })
      .from(webhooks)
      .where(mine(ctx, id))
      .for("update");
    if (!webhook) throw notFound("Webhook");
    await lockDeliveries(tx, { teamId: ctx.teamId, id });
    await tx.delete(webhooks).where(mine(ctx, id));
    await recordAudit(tx, ctx, { action: "webhook.deleted", subject: { id, name: webhook.url } });
  });
  return { id };
}

function rejectUncallableUrl(ctx: Ctx, url: string): void {
  const fault = ctx.outside.checkUrl(url);
  if (fault !== null) throw invalidField("endpoint", fault);
}

/**
 * Locks all event deliveries of an endpoint before they are deleted with it. `tx` already holds the lock on
 * the endpoint, so no new ones are added meanwhile.
 */
async function lockDeliveries(tx: Db, endpoint: { teamId: string; id: string }): Promise<void> {
  await tx.execute(sql`
    select count(*) from (
      select from webhook_deliveries where team_id = ${endpoint.teamId} and webhook_id = ${endpoint.id}
      order by id for update
    ) as locked`);
}
