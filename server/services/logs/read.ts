import { and, asc, desc, eq, getTableColumns, gt, gte, lt, lte, sql } from "drizzle-orm";
import { apiRequests } from "#db/schema/api-requests";
import type { Ctx } from "#server/deps";
import { notFound } from "#server/errors";
import { type Page, type PageQuery, pageOf } from "../paging";

export type ApiCall = Omit<typeof apiRequests.$inferSelect, "requestBody" | "responseBody">;
export type WholeApiCall = typeof apiRequests.$inferSelect;

export type LogFilter = {
  apiKeyId?: string;
  method?: string;
  /** Bounds of the status, both included. */
  status?: { from: number; to: number };
  /** Only what was refused for the key's own sake: it is none any more, it may not, or it came too often. */
  isRefused?: boolean;
};

/** The team's recent calls, newest first, without bodies. A call is there about a second after it was answered. */
export async function listCalls(ctx: Ctx, query: PageQuery & LogFilter): Promise<Page<ApiCall>> {
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

/** The same as a whole, newest first, read only as fast as it is taken. */
export async function* readCalls(ctx: Ctx, filter: LogFilter): AsyncGenerator<ApiCall[]> {
  for (let after: string | undefined; ; ) {
    const page = await listCalls(ctx, { ...filter, limit: rowsPerRead, ...(after ? { after } : {}) });
    yield page.rows;
    after = page.rows.at(-1)?.id;
    if (!page.hasMore || !after) return;
  }
}

/** One call with what was asked and answered, as far as it is kept. */
export async function getCall(ctx: Ctx, id: string): Promise<WholeApiCall> {
  const [call] = await ctx.db
    .select()
    .from(apiRequests)
    .where(and(eq(apiRequests.teamId, ctx.teamId), eq(apiRequests.id, id)));
  if (!call) throw notFound("Log");
  return call;
}
