import { z } from "zod";
import { AppError } from "#server/errors";
import { isId } from "#server/ids";

/** What a list's query may say about its page; spread into the schema of every list. */
export const PAGING = {
  limit: z
    .string()
    .regex(/^(100|[1-9]\d?)$/, "Must be a whole number from 1 to 100.")
    .transform(Number)
    .default(20)
    .describe("Rows of a page, 1 to 100."),
  after: z
    .string()
    .refine(isId, "Must be the id of a row of this list, as the service returned it.")
    .optional()
    .describe("The id of the last row of a page: older rows follow."),
  before: z
    .string()
    .refine(isId, "Must be the id of a row of this list, as the service returned it.")
    .optional()
    .describe("The id of the first row of a page: newer rows follow."),
};

/** For lists that clients of the dialect read whole: without a limit as much as there is, up to 100. */
export const PAGING_OF_WHOLE = {
  ...PAGING,
  limit: PAGING.limit.removeDefault().default(100).describe("Rows of a page, 1 to 100."),
};

/**
 * The query of a URL by name. A parameter without value counts as absent; one that stands twice, or holds what no
 * text may, is refused.
 */
export function readQuery(url: URL): Record<string, string> {
  const query: Record<string, string> = Object.create(null);
  for (const [name, value] of url.searchParams) {
    const shown = `\`${name.slice(0, 60)}\``;
    if (name in query)
      throw new AppError("invalid", `Query parameter ${shown} is given twice. Give it once.`);
    if (name.includes("\0") || value.includes("\0"))
      throw new AppError("invalid", `Query parameter ${shown} contains a NUL character. Remove it.`);
    if (value !== "") query[name] = value;
  }
  return query;
}

/** Where a page is asked for from both sides at once, it is none. */
export function refuseTwoCursors({ after, before }: { after?: string; before?: string }): void {
  if (after !== undefined && before !== undefined)
    throw new AppError("invalid", "Give `after` for older rows or `before` for newer ones, not both.");
}

/** The list envelope. */
export function listJson<Row>(rows: Row[], hasMore: boolean) {
  return { object: "list" as const, has_more: hasMore, data: rows };
}
