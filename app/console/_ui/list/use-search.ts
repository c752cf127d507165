"use client";

import { type inferParserType, useQueryStates } from "nuqs";

type Parsers = Parameters<typeof useQueryStates>[0];
type Options = { history?: "push" | "replace" };

/**
 * The URL parameters of a page and how to change some of them; `null` removes one, or all.
 *
 * A change writes all parameters. When Next renders late, it writes the URL of an earlier change into the
 * address bar once more, and a change that named only its own parameters would keep what that URL says of
 * the others.
 */
export function useSearch<Of extends Parsers>(parsers: Of) {
  const [search, setSearch] = useQueryStates(parsers);
  type Search = inferParserType<Of>;
  const change = (part: Partial<Search> | null, options?: Options) =>
    void setSearch((current) => part && { ...current, ...part }, options);
  return [search as Search, change] as const;
}
