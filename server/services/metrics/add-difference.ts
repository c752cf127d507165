import { COUNT_COLUMNS } from "./states";

const names = COUNT_COLUMNS.join(", ");
const sums = COUNT_COLUMNS.map((name) => `sum(d.${name})`).join(", ");
/** SQL: adds a row that was not inserted to the row `c` that exists. */
export const ADDITION = COUNT_COLUMNS.map((name) => `${name} = c.${name} + excluded.${name}`).join(", ");

/**
 * SQL: CTEs that add the rows of the CTE `difference`, which has the columns of `recipient_counts`, to the
 * counts and to their totals. Every change of a count uses them: totals that differ from their rows would
 * show two numbers for one question. The caller has locked the team's row of `metrics_progress`.
 */
export const ADD_DIFFERENCE = `kept as (
  insert into recipient_counts as c (team_id, tag, unit, starts_at, domain, api_key_id, provider, ${names})
  select team_id, tag, unit, starts_at, domain, api_key_id, provider, ${names} from difference
  on conflict (team_id, tag, unit, starts_at, domain, api_key_id, provider) do update set ${ADDITION}
), kept_totals as (
  insert into recipient_totals as c (team_id, dimension, unit, starts_at, value, ${names})
  select d.team_id, t.dimension, d.unit, d.starts_at, t.value, ${sums}
  from difference d cross join lateral (
    select 'tag' as dimension, d.tag as value where d.tag <> ''
    union all
    select s.dimension, s.value
    from (values ('all', ''), ('domain', d.domain), ('key', coalesce(d.api_key_id::text, '')), ('provider', d.provider))
      s (dimension, value)
    where d.tag = ''
  ) t
  group by 1, 2, 3, 4, 5
  on conflict (team_id, dimension, unit, starts_at, value) do update set ${ADDITION}
)`;
