import { and, between, eq, getTableColumns, type SQL, sql } from "drizzle-orm";
import { apiRequests } from "#db/schema/api-keys";
import type { Ctx } from "#server/deps";
import { notFound } from "#server/platform/errors";
import { firstIdAt, timeOfId } from "#server/platform/ids";
import type { ApiCall, ApiCallWithBodies } from "#server/shared/wire/log";
import { type Page, type PageQuery, pageById, readAllById } from "../paging";

export type LogFilter = {
  apiKeyId?: string;
  /** Only the request that sent this email. */
  emailId?: string;
  method?: string;
  /** Range of the status, inclusive. */
  status?: { from: number; to: number };
  /**
   * Only requests rejected because of the key: 401 (invalid), 403 (missing permission) or 429 (rate limit).
   */
  isRefused?: boolean;
};

/**
 * The team's recent API calls, newest first, without bodies. A call is listed about one second after its
 * response.
 */
export const listCalls = (ctx: Ctx, query: PageQuery & LogFilter): Promise<Page<ApiCall>> =>
  pageById(ctx, apiRequests, query, listingOf(ctx, query));

/** All matching calls, newest first, in batches. */
export const listAllCalls = (ctx: Ctx, filter: LogFilter): AsyncGenerator<ApiCall[]> =>
  readAllById(ctx, apiRequests, listingOf(ctx, filter));

const { requestBody: _, responseBody: __, emailIds: ___, ...columns } = getTableColumns(apiRequests);

const listingOf = ({ db }: Ctx, { apiKeyId, emailId, method, status, isRefused }: LogFilter) => ({
  select: () => db.select(columns).from(apiRequests).$dynamic(),
  where: and(
    apiKeyId === undefined ? undefined : eq(apiRequests.apiKeyId, apiKeyId),
    method === undefined ? undefined : eq(apiRequests.method, method),
    emailId === undefined ? undefined : hasSent(emailId),
    isRefused ? sql`${apiRequests.status} in (401, 403, 429)` : undefined,
    status && between(apiRequests.status, status.from, status.to),
  ),
});

/** A request is recorded after its response, so its id is a little later than those of its emails. */
const recordedMsMax = 60_000;

function hasSent(emailId: string): SQL {
  const latest = firstIdAt(new Date(timeOfId(emailId).getTime() + recordedMsMax));
  return sql`${apiRequests.id} between ${emailId} and ${latest} and ${emailId} = any(${apiRequests.emailIds})`;
}

/** One call with its request and response bodies, as far as they are stored. */
export async function getCall(ctx: Ctx, id: string): Promise<ApiCallWithBodies> {
  const [call] = await ctx.db
    .select()
    .from(apiRequests)
    .where(and(eq(apiRequests.teamId, ctx.teamId), eq(apiRequests.id, id)));
  if (!call) throw notFound("Log");
  return call;
}
