import { z } from "zod";
import type { Ctx } from "#server/deps";
import { AppError } from "#server/platform/errors";
import { foldAddress } from "#server/shared/text/fold-address";
import type { Command } from "../../audit/record";
import { listLinkedDomains, requireLinkedDomain } from "../../keys/linked-domains";
import { encodePosition, parsePosition } from "../../parts";
import { describeFilter, type EmailFilter } from "../read/filter";
import { listEmails, scanEmails } from "../read/list";
import { getEmail } from "../read/read";
import { type ResetDelivery, type RetryableState, resetDeliveries } from "./reset-deliveries";

/** Emails that one call by filter processes. The rest needs further calls. */
export const retriedEmailsMax = 100;

/** The last email that was processed, and the entry of the command in the audit log. */
const Position = z.object({ after: z.uuid(), entryId: z.uuid().nullable() });

export type RetryAnswer = { retried: ResetDelivery[]; hasMore: boolean };

const ENDED: readonly RetryableState[] = ["failed", "bounced", "deferred"];

const retryableStates = (acceptDuplicates: boolean): readonly RetryableState[] =>
  acceptDuplicates ? [...ENDED, "unknown"] : ENDED;

/**
 * Sends an email again to the recipients for whom it failed, bounced or is deferred; `recipients` limits the
 * retry to these addresses. With an unknown outcome only if `acceptDuplicates` is set, because the email may
 * have been delivered. 409 with the reason if there is no such recipient, 403 if the key may not change the
 * email.
 */
export async function retryEmail(
  ctx: Ctx,
  id: string,
  acceptDuplicates: boolean,
  recipients: string[] | null = null,
): Promise<RetryAnswer> {
  const email = await getEmail(ctx, id);
  await requireLinkedDomain(ctx, email.senderDomain);
  const states = retryableStates(acceptDuplicates);
  const wanted = recipients?.map(foldAddress);
  const requested = email.deliveries.filter(({ address }) => wanted?.includes(foldAddress(address)) ?? true);
  const addresses = requested.map(({ address }) => address);
  const retried = await retry(ctx, [id], states, addresses);
  if (retried.length > 0) return { retried, hasMore: false };
  if (email.isErased)
    throw new AppError(
      "conflict",
      "The content of this email was erased, by the team's retention settings or on request, so it cannot be sent again.",
    );
  if (email.deliveries.some(({ waitRule }) => waitRule === "restored"))
    throw new AppError(
      "conflict",
      "This email is held because the installation was restored from a backup. An owner releases or cancels held email on the overview, or the operator with `backstamp release`.",
    );
  const found = [...new Set(requested.map(({ status }) => status))];
  if (found.includes("unknown")) {
    const unknown = "The outcome of this email is unknown. Sending it again may deliver it twice.";
    throw new AppError("conflict", `${unknown} Set \`accept_duplicates: true\` to retry it anyway.`, {
      plain: `${unknown} Accept duplicates to retry it anyway.`,
    });
  }
  throw new AppError(
    "conflict",
    found.length === 0
      ? "None of these addresses is a recipient of this email."
      : `Only failed, bounced or deferred emails can be retried. This email is ${found.join(" and ")}.`,
  );
}

/**
 * The same for several emails by id. Emails that cannot be retried or do not belong to the team are skipped.
 */
export const retrySelected = (ctx: Ctx, ids: string[], acceptDuplicates: boolean): Promise<ResetDelivery[]> =>
  retry(ctx, ids, retryableStates(acceptDuplicates));

/**
 * The same for every email that a filter finds, newest first, at most `retriedEmailsMax` per call. AppError
 * `invalid` without a filter. Bounced emails are retried only if `filter.status` contains `bounced`.
 * `next` continues the command with the next call and is null at the end: no email is processed twice even if
 * some fail again, and all calls are one entry of the audit log. A key that is linked to domains finds only
 * emails from these domains; a filter for another domain is 403.
 */
export async function retryEmails(
  ctx: Ctx,
  filter: EmailFilter,
  acceptDuplicates: boolean,
  from: string | null = null,
): Promise<RetryAnswer & { next: string | null }> {
  const states = statesFor(filter, acceptDuplicates);
  const { after, ...command }: { after?: string } & Command = parsePosition(Position, from, {
    start: { entryId: null },
    message: "Start the retry again: its position is not valid.",
  });
  const { ids, hasMore } = await findRetryable(ctx, filter, states, { limit: retriedEmailsMax, after });
  const retried = await retry(ctx, ids, states, null, { filter, command });
  const last = ids.at(-1);
  return { retried, hasMore, next: hasMore && last ? encodePosition({ after: last, ...command }) : null };
}

export type RetryableCount = {
  count: number;
  /** There are more: `max` was reached. */
  hasMore: boolean;
  /** Older emails were not read: more of them can match. */
  isPartial: boolean;
};

/**
 * How many emails `retryEmails` would process over all calls, up to `max`. It reads a limited number of the
 * newest emails of each status, so it takes the same time with a thousand emails as with millions.
 */
export async function countRetryable(
  ctx: Ctx,
  filter: EmailFilter,
  acceptDuplicates: boolean,
  max: number,
): Promise<RetryableCount> {
  const states = statesFor(filter, acceptDuplicates);
  const found = await findByStatus(ctx, filter, states, (query) => scanEmails(ctx, { ...query, limit: max }));
  const count = found.reduce((sum, { rows }) => sum + rows.length, 0);
  return {
    count: Math.min(count, max),
    hasMore: count > max || found.some((each) => each.hasMore),
    isPartial: found.some(({ scannedTo }) => scannedTo !== null),
  };
}

/**
 * The states that a filter retries. Sending again to addresses that were permanently rejected harms the
 * sender's reputation, so this happens only if the filter names that status. Of several statuses, those that
 * cannot be retried are skipped.
 */
function statesFor(filter: EmailFilter, acceptDuplicates: boolean): readonly RetryableState[] {
  // An empty string does not restrict the result.
  if (Object.values(filter).every((value) => value === undefined || value === ""))
    throw new AppError(
      "invalid",
      "Set at least one filter, such as `status`, `recipient`, `domain` or `since`.",
      { plain: "Set at least one filter, such as the status, recipient, domain or start." },
    );
  const all = retryableStates(acceptDuplicates);
  const { status: statuses = [] } = filter;
  if (statuses.length > 0 && !all.some((state) => statuses.includes(state)))
    throw new AppError(
      "conflict",
      `Email with the status ${statuses.join(" or ")} cannot be retried. Possible: ${all.join(", ")}.`,
    );
  return all.filter((state) => state !== "bounced" || statuses.includes("bounced"));
}

async function findRetryable(
  ctx: Ctx,
  filter: EmailFilter,
  states: readonly RetryableState[],
  page: { limit: number; after?: string },
): Promise<{ ids: string[]; hasMore: boolean }> {
  const found = await findByStatus(ctx, filter, states, (query) => listEmails(ctx, { ...query, ...page }));
  const ids = found
    .flatMap(({ rows }) => rows.map(({ id }) => id))
    .sort()
    .reverse();
  const hasMore = ids.length > page.limit || found.some((each) => each.hasMore);
  return { ids: ids.slice(0, page.limit), hasMore };
}

/** Reads the emails of each status that the filter retries, limited to the domains of the caller. */
async function findByStatus<Found>(
  ctx: Ctx,
  filter: EmailFilter,
  states: readonly RetryableState[],
  read: (query: EmailFilter) => Promise<Found>,
): Promise<Found[]> {
  if (filter.domain) await requireLinkedDomain(ctx, filter.domain);
  const senderDomains = await listLinkedDomains(ctx);
  const named = states.filter((state) => filter.status?.includes(state));
  return Promise.all(
    (named.length > 0 ? named : states).map((status) => read({ ...filter, status: [status], senderDomains })),
  );
}

function retry(
  ctx: Ctx,
  emailIds: readonly string[],
  states: readonly RetryableState[],
  addresses: readonly string[] | null = null,
  batch?: { filter: EmailFilter; command: Command },
): Promise<ResetDelivery[]> {
  return resetDeliveries(ctx, { emailIds, states, addresses, to: "queued" }, (retried) => {
    const emails = new Set(retried.map(({ emailId }) => emailId));
    const [id] = emails;
    const acceptDuplicates = states.includes("unknown");
    const counts = { recipients: retried.length };
    if (!batch && emails.size === 1 && id !== undefined)
      return { action: "email.retried", subject: { id, name: null }, detail: { acceptDuplicates }, counts };
    return {
      action: "email.retried_many",
      detail: { acceptDuplicates, ...(batch && { filter: describeFilter(batch.filter) }) },
      counts: { mails: emails.size, ...counts },
      ...(batch && { command: batch.command }),
    };
  });
}
