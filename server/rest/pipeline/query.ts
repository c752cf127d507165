import { z } from "zod";
import { AppError } from "#server/platform/errors";
import { isId } from "#server/platform/ids";

/** Pagination parameters; spread into the query schema of every list. */
export const PAGING = {
  limit: z
    .string()
    .regex(/^(100|[1-9]\d?)$/, "Must be a whole number from 1 to 100.")
    .transform(Number)
    .default(20)
    .describe("Rows per page, 1 to 100."),
  after: z
    .string()
    .refine(isId, "Must be the id of a row of this list, as the service returned it.")
    .optional()
    .describe("The id of the last row of a page. Returns the next, older rows."),
  before: z
    .string()
    .refine(isId, "Must be the id of a row of this list, as the service returned it.")
    .optional()
    .describe("The id of the first row of a page. Returns the previous, newer rows."),
};

/** For lists that Resend clients read without pages: the default limit is the maximum, 100. */
export const PAGING_OF_WHOLE = {
  ...PAGING,
  limit: PAGING.limit.removeDefault().default(100).describe("Rows per page, 1 to 100."),
};

/**
 * The query parameters of a URL by name. A parameter without a value counts as absent. A duplicate parameter or one with a
 * NUL character is rejected.
 */
export function readQuery(url: URL): Record<string, string> {
  const query: Record<string, string> = Object.create(null);
  for (const [name, value] of url.searchParams) {
    const label = `\`${name.slice(0, 60)}\``;
    if (name in query)
      throw new AppError("invalid", `Query parameter ${label} occurs more than once. Send it once.`);
    if (name.includes("\0") || value.includes("\0"))
      throw new AppError("invalid", `Query parameter ${label} contains a NUL character. Remove it.`);
    if (value !== "") query[name] = value;
  }
  return query;
}

/** Rejects a query with both cursors. */
export function rejectTwoCursors({ after, before }: { after?: string; before?: string }): void {
  if (after !== undefined && before !== undefined)
    throw new AppError("invalid", "Send `after` for older rows or `before` for newer ones, not both.");
}

/** The list envelope. */
export function listJson<Row>(rows: Row[], hasMore: boolean) {
  return { object: "list" as const, has_more: hasMore, data: rows };
}
