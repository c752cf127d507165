import { type Retried, retryDeliveries } from "#db/retry";
import type { EmailStatus } from "#db/schema/emails";
import type { Ctx } from "#server/deps";
import { AppError } from "#server/errors";
import { newId } from "#server/ids";
import { type AuditEntry, recordAuditHot } from "../audit/record";
import type { EmailFilter } from "./filter";
import { listEmails } from "./list";
import { getEmail } from "./read";

/** Mails that one call by filter takes on; the rest waits for the next call. */
export const retriedEmailsMax = 100;

export type RetryAnswer = { retried: Retried[]; hasMore: boolean };

const ENDED: readonly EmailStatus[] = ["failed", "bounced", "deferred"];
const ENDED_OR_UNKNOWN: readonly EmailStatus[] = [...ENDED, "unknown"];

/**
 * Sends a mail again to those of its recipients where it failed, bounced or is deferred, or to those of them that are named.
 * Where the outcome is unknown only with `acceptDuplicates`, for it may have arrived. A mail without such a recipient is
 * 409 with the reason.
 */
export async function retryEmail(
  ctx: Ctx,
  id: string,
  acceptDuplicates: boolean,
  recipients: string[] | null = null,
): Promise<RetryAnswer> {
  const email = await getEmail(ctx, id);
  const retried = await retry(ctx, [id], acceptDuplicates, recipients);
  if (retried.length > 0) return { retried, hasMore: false };
  if (email.isErased)
    throw new AppError(
      "conflict",
      "What this mail said was erased, as the team's retention has it, so it cannot be sent again.",
    );
  const asked = email.deliveries.filter(({ address }) => recipients?.includes(address) ?? true);
  const states = [...new Set(asked.map(({ status }) => status))];
  throw new AppError(
    "conflict",
    states.includes("unknown")
      ? "Whether this mail arrived is unknown, so sending it again may double it. Say `accept_duplicates: true` to do so."
      : states.length === 0
        ? "None of those is a recipient of this mail."
        : `Only what failed, bounced or is deferred can be retried; this mail is ${states.join(" and ")}.`,
  );
}

/** The same for several mails named by their ids: what cannot be retried, or is nobody's of this team, is passed over. */
export const retrySelected = (ctx: Ctx, ids: string[], acceptDuplicates: boolean): Promise<Retried[]> =>
  retry(ctx, ids, acceptDuplicates);

/**
 * The same for every mail that a filter finds, at most `retriedEmailsMax` a call, newest first. `after` goes on behind a
 * mail, so that a walk through all of them meets none twice though some fail again meanwhile; `next` is where it is to
 * go on, null at the end.
 */
export async function retryEmails(
  ctx: Ctx,
  filter: EmailFilter,
  acceptDuplicates: boolean,
  after?: string,
): Promise<RetryAnswer & { next: string | null }> {
  const { ids, hasMore } = await findRetryable(ctx, filter, acceptDuplicates, {
    limit: retriedEmailsMax,
    after,
  });
  const retried = await retry(ctx, ids, acceptDuplicates);
  return { retried, hasMore, next: hasMore ? (ids.at(-1) ?? null) : null };
}

/** How many mails such a walk would meet, up to `max`. */
export async function countRetryable(
  ctx: Ctx,
  filter: EmailFilter,
  acceptDuplicates: boolean,
  max: number,
): Promise<{ count: number; hasMore: boolean }> {
  const { ids, hasMore } = await findRetryable(ctx, filter, acceptDuplicates, { limit: max });
  return { count: ids.length, hasMore };
}

async function findRetryable(
  ctx: Ctx,
  filter: EmailFilter,
  acceptDuplicates: boolean,
  page: { limit: number; after?: string },
): Promise<{ ids: string[]; hasMore: boolean }> {
  const usual = acceptDuplicates ? ENDED_OR_UNKNOWN : ENDED;
  if (filter.status && !usual.includes(filter.status))
    throw new AppError(
      "conflict",
      `Mail that is ${filter.status} cannot be retried. Possible: ${usual.join(", ")}.`,
    );
  const statuses = filter.status ? [filter.status] : usual;
  const found = await Promise.all(statuses.map((status) => listEmails(ctx, { ...filter, ...page, status })));
  const ids = found
    .flatMap(({ rows }) => rows.map(({ id }) => id))
    .sort()
    .reverse();
  const hasMore = ids.length > page.limit || found.some((each) => each.hasMore);
  return { ids: ids.slice(0, page.limit), hasMore };
}

async function retry(
  ctx: Ctx,
  emailIds: string[],
  acceptDuplicates: boolean,
  addresses: string[] | null = null,
): Promise<Retried[]> {
  const retried = await retryDeliveries(ctx.hot, {
    teamId: ctx.teamId,
    emailIds,
    which: acceptDuplicates ? "ended or unknown" : "ended",
    addresses,
    newId,
    alongside: (tx, which) => recordAuditHot(tx, ctx, entryOf(which, acceptDuplicates)),
  });
  if (retried.length > 0) ctx.wake();
  return retried;
}

function entryOf(retried: readonly Retried[], acceptDuplicates: boolean): AuditEntry {
  const ids = [...new Set(retried.map(({ emailId }) => emailId))];
  const [id] = ids;
  const detail = { recipients: retried.length, acceptDuplicates };
  if (ids.length === 1 && id !== undefined)
    return { action: "email.retried", subject: { id, name: null }, detail };
  return { action: "email.retried_many", detail: { mails: ids.length, ...detail } };
}
