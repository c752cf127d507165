import type { Ctx } from "#server/deps";
import type { AppError } from "#server/errors";
import type { Verdict } from "#server/limits/limits";
import { dryRunBatch, dryRunEmail } from "#server/services/emails/dry-run";
import type { NewEmail, Once } from "#server/services/emails/send";
import { findAnswer } from "./idempotency";
import { dryRunHead, dryRunJson, replayedJson } from "./wire/dry-run";

/** What `POST /api/emails` would do with this body and, where one is given, this `Idempotency-Key`. */
export async function dryRunOne(ctx: Ctx, body: NewEmail, once: Once | undefined, verdict: Verdict) {
  const head = dryRunHead("POST /api/emails", verdict);
  const earlier = await earlierAnswer(ctx, once);
  if (earlier) return { ...head, ...replayedJson(earlier) };
  return { ...head, ...dryRunJson(await dryRunEmail(ctx, body)) };
}

/** The same of `POST /api/emails/batch`. `items` reads the mails, which a used key makes needless. */
export async function dryRunMany(
  ctx: Ctx,
  { items, mode }: { items: () => (NewEmail | AppError)[]; mode: "strict" | "permissive" },
  once: Once | undefined,
  verdict: Verdict,
) {
  const head = dryRunHead("other", verdict);
  const earlier = await earlierAnswer(ctx, once);
  if (earlier) return { ...head, ...replayedJson(earlier) };
  const { runs, errors } = await dryRunBatch(ctx, items(), mode);
  return { ...head, data: runs.map((run) => ({ index: run.index, ...dryRunJson(run) })), errors };
}

/** What the real call would be answered before anything is looked at; a key of another payload is refused here as there. */
async function earlierAnswer(ctx: Ctx, once: Once | undefined): Promise<Record<string, unknown> | null> {
  return once ? ((await findAnswer(ctx, once))?.body ?? null) : null;
}
