import { and, eq, sql } from "drizzle-orm";
import { webhooks } from "#db/schema/webhooks";
import type { Ctx } from "#server/deps";
import { notFound } from "#server/platform/errors";
import { recordAudit } from "../audit/record";
import { createSigningSecret, openSigningSecret, previousSecretHours, sealSigningSecret } from "./secrets";

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
    const mine = and(eq(webhooks.teamId, ctx.teamId), eq(webhooks.id, id));
    const [row] = await tx
      .select({ id: webhooks.id, teamId: webhooks.teamId, secret: webhooks.secret, url: webhooks.url })
      .from(webhooks)
      .where(mine)
      .for("no key update");
    if (!row) throw notFound("Webhook");
    const previous = openSigningSecret(ctx.vault, row, "secret", row.secret);
    await tx
      .update(webhooks)
      .set({
        secret: sealSigningSecret(ctx.vault, row, "secret", signingSecret),
        previousSecret: sealSigningSecret(ctx.vault, row, "previous_secret", previous),
        previousUntil: sql`now() + ${previousSecretHours} * interval '1 hour'`,
      })
      .where(mine);
    await recordAudit(tx, ctx, { action: "webhook.secret_rotated", subject: { id, name: row.url } });
  });
  return { id, signingSecret };
}
