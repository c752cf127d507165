import { and, eq, sql } from "drizzle-orm";
import { webhooks } from "#db/schema/webhooks";
import type { Ctx } from "#server/deps";
import { notFound } from "#server/errors";
import { recordAudit } from "../audit/record";
import { mintSigningSecret, openSigningSecret, previousLivesHours, sealSigningSecret } from "./secrets";

/**
 * Gives an endpoint a new signing secret. The one before goes on signing beside it for a day, and no longer than until the
 * next rotation: two are live at most.
 */
export async function rotateSigningSecret(
  ctx: Ctx,
  id: string,
): Promise<{ id: string; signingSecret: string }> {
  const signingSecret = mintSigningSecret();
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
        previousUntil: sql`now() + ${previousLivesHours} * interval '1 hour'`,
      })
      .where(mine);
    await recordAudit(tx, ctx, { action: "webhook.secret_rotated", subject: { id, name: row.url } });
  });
  return { id, signingSecret };
}
