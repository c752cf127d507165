import type { HotSql } from "#db/client";

/** A change of return paths that a check of a verified domain decided applies now, as seconds later. */
export const passReturnPathDelay = (hot: HotSql) => hot`
  update domains set return_path_periods = (
    select coalesce(range_agg(tstzrange(least(lower(p), now()), case when upper(p) > now() then now() else upper(p) end)), '{}')
    from unnest(return_path_periods) as p)`;
