import type { Ctx } from "#server/deps";
import type { AppError } from "#server/platform/errors";
import type { Verdict } from "#server/platform/limits/limits";
import { dryRunBatch, dryRunEmail } from "#server/services/emails/accept/dry-run";
import type { NewEmail, Once } from "#server/services/emails/accept/send";
import { findStoredResponse } from "../pipeline/idempotency";
import { dryRunHead, dryRunJson, replayedJson } from "../wire/dry-run";

/** The dry run of `POST /api/emails` with this body and, if present, this `Idempotency-Key`. */
export async function dryRunOne(ctx: Ctx, body: NewEmail, once: Once | undefined, verdict: Verdict) {
  const head = dryRunHead("POST /api/emails", verdict);
  const earlier = await findEarlierResponse(ctx, once);
  if (earlier) return { ...head, ...replayedJson(earlier) };
  return { ...head, ...dryRunJson(await dryRunEmail(ctx, body)) };
}

/** The dry run of `POST /api/emails/batch`. `items` validates the emails; it is not called if the key has a stored response. */
export async function dryRunMany(
  ctx: Ctx,
  { items, mode }: { items: () => (NewEmail | AppError)[]; mode: "strict" | "permissive" },
  once: Once | undefined,
  verdict: Verdict,
) {
  const head = dryRunHead("other", verdict);
  const earlier = await findEarlierResponse(ctx, once);
  if (earlier) return { ...head, ...replayedJson(earlier) };
  const { runs, errors } = await dryRunBatch(ctx, items(), mode);
  return { ...head, data: runs.map((run) => ({ index: run.index, ...dryRunJson(run) })), errors };
}

/** The stored response that the real call would replay, or null. A key used with another payload is rejected as there. */
async function findEarlierResponse(
  ctx: Ctx,
  once: Once | undefined,
): Promise<Record<string, unknown> | null> {
  return once ? ((await findStoredResponse(ctx, once))?.body ?? null) : null;
}
