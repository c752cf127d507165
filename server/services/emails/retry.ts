import { type Retried, retryDeliveries } from "#db/retry";
import type { EmailStatus } from "#db/schema/emails";
import type { Ctx } from "#server/deps";
import { AppError } from "#server/errors";
import { newId } from "#server/ids";
import { type EmailFilter, getEmail, listEmails } from "./read";

/** Mails that one call by filter takes on; the rest waits for the next call. */
export const retriedEmailsMax = 100;

export type RetryAnswer = { retried: Retried[]; hasMore: boolean };

/**
 * Sends a mail again to those of its recipients where it failed, bounced or is deferred. Where the outcome is unknown only
 * with `acceptDuplicates`, for it may have arrived. A mail without such a recipient is 409 with the reason.
 */
export async function retryEmail(ctx: Ctx, id: string, acceptDuplicates: boolean): Promise<RetryAnswer> {
  const email = await getEmail(ctx, id);
  const retried = await retry(ctx, [id], acceptDuplicates);
  if (retried.length > 0) return { retried, hasMore: false };
  const states = [...new Set(email.deliveries.map(({ status }) => status))];
  throw new AppError(
    "conflict",
    states.includes("unknown")
      ? "Whether this mail arrived is unknown, so sending it again may double it. Say `accept_duplicates: true` to do so."
      : `Only what failed, bounced or is deferred can be retried; this mail is ${states.join(" and ")}.`,
  );
}

/** The same for every mail that a filter finds, at most `retriedEmailsMax` a call, newest first. */
export async function retryEmails(
  ctx: Ctx,
  filter: EmailFilter,
  acceptDuplicates: boolean,
): Promise<RetryAnswer> {
  const usual: EmailStatus[] = acceptDuplicates
    ? ["failed", "bounced", "deferred", "unknown"]
    : ["failed", "bounced", "deferred"];
  if (filter.status && !usual.includes(filter.status))
    throw new AppError(
      "conflict",
      `Mail that is ${filter.status} cannot be retried. Possible: ${usual.join(", ")}.`,
    );
  const found = await Promise.all(
    (filter.status ? [filter.status] : usual).map((status) =>
      listEmails(ctx, { ...filter, status, limit: retriedEmailsMax }),
    ),
  );
  const ids = found
    .flatMap(({ rows }) => rows.map(({ id }) => id))
    .sort()
    .reverse();
  const retried = await retry(ctx, ids.slice(0, retriedEmailsMax), acceptDuplicates);
  return { retried, hasMore: ids.length > retriedEmailsMax || found.some(({ hasMore }) => hasMore) };
}

async function retry(ctx: Ctx, emailIds: string[], acceptDuplicates: boolean): Promise<Retried[]> {
  const which = acceptDuplicates ? "ended or unknown" : "ended";
  const retried = await retryDeliveries(ctx.hot, { teamId: ctx.teamId, emailIds, which, newId });
  if (retried.length > 0) ctx.wake();
  return retried;
}
