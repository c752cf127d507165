import { z } from "zod";
import { AppError } from "#server/platform/errors";
import { isId } from "#server/platform/ids";
import type { Page } from "#server/services/paging";

const CURSOR = "Must be the id of a row of this list, as the service returned it.";

/**
 * The query of a list: the page, and these filters. Resend clients read some lists without pages: their
 * default is 100.
 */
export const listQuery = <Filters extends z.ZodRawShape>(filters: Filters, limitByDefault = 20) =>
  z
    .strictObject({
      limit: z
        .string()
        .regex(/^(100|[1-9]\d?)$/, "Must be a whole number from 1 to 100.")
        .transform(Number)
        .default(limitByDefault)
        .describe("Rows per page, 1 to 100."),
      after: z
        .string()
        .refine(isId, CURSOR)
        .optional()
        .describe("The id of the last row of a page. Returns the next, older rows."),
      before: z
        .string()
        .refine(isId, CURSOR)
        .optional()
        .describe("The id of the first row of a page. Returns the previous, newer rows."),
      ...filters,
    })
    .refine(
      (query) => !("after" in query && "before" in query),
      "Send `after` for older rows or `before` for newer ones, not both.",
    );

/**
 * The query parameters of a URL by name. A parameter without a value counts as absent. A duplicate of one of
 * the `lists` continues the list; any other duplicate, and a parameter with a NUL character, is rejected.
 */
export function parseQuery(url: URL, lists: readonly string[] = []): Record<string, string> {
  const query: Record<string, string> = Object.create(null);
  for (const [name, value] of url.searchParams) {
    const label = `\`${name.slice(0, 60)}\``;
    if (name in query && !lists.includes(name))
      throw new AppError("invalid", `Query parameter ${label} occurs more than once. Send it once.`);
    if (name.includes("\0") || value.includes("\0"))
      throw new AppError("invalid", `Query parameter ${label} contains a NUL character. Remove it.`);
    if (value !== "") query[name] = name in query ? `${query[name]},${value}` : value;
  }
  return query;
}

/** The list envelope. */
export const listJson = <Row, Json>({ rows, hasMore }: Page<Row>, present: (row: Row) => Json) => ({
  object: "list" as const,
  has_more: hasMore,
  data: rows.map((row) => present(row)),
});
