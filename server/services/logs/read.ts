import { and, asc, desc, eq, getTableColumns, gt, gte, lt, lte, sql } from "drizzle-orm";
import { apiRequests } from "#db/schema/api-keys";
import type { Ctx } from "#server/deps";
import { notFound } from "#server/platform/errors";
import type { ApiCall, ApiCallWithBodies } from "#server/shared/wire/log";
import { type Page, type PageQuery, pageOf, requireCursor } from "../paging";

export type LogFilter = {
  apiKeyId?: string;
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
export async function listCalls(ctx: Ctx, query: PageQuery & LogFilter): Promise<Page<ApiCall>> {
  await requireCursor(ctx, apiRequests, query);
  return readPage(ctx, query);
}

function readPage(ctx: Ctx, query: PageQuery & LogFilter): Promise<Page<ApiCall>> {
  const { requestBody: _, responseBody: __, ...columns } = getTableColumns(apiRequests);
  const { apiKeyId, method, status, isRefused } = query;
  return pageOf(query, (cursor, order, limit) =>
    ctx.db
      .select(columns)
      .from(apiRequests)
      .where(
        and(
          eq(apiRequests.teamId, ctx.teamId),
          apiKeyId === undefined ? undefined : eq(apiRequests.apiKeyId, apiKeyId),
          method === undefined ? undefined : eq(apiRequests.method, method),
          isRefused ? sql`${apiRequests.status} in (401, 403, 429)` : undefined,
          status && and(gte(apiRequests.status, status.from), lte(apiRequests.status, status.to)),
          cursor &&
            (cursor.direction === "older" ? lt(apiRequests.id, cursor.id) : gt(apiRequests.id, cursor.id)),
        ),
      )
      .orderBy(order === "newest" ? desc(apiRequests.id) : asc(apiRequests.id))
      .limit(limit),
  );
}

/** Rows read at once for an export. */
const rowsPerRead = 1_000;

/** All matching calls, newest first, read as they are consumed. Rows may expire during the export. */
export async function* readCalls(ctx: Ctx, filter: LogFilter): AsyncGenerator<ApiCall[]> {
  for (let after: string | undefined; ; ) {
    const page = await readPage(ctx, { ...filter, limit: rowsPerRead, ...(after ? { after } : {}) });
    yield page.rows;
    after = page.rows.at(-1)?.id;
    if (!page.hasMore || !after) return;
  }
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
