/*
 * Teams whose email is not sent: paused ones, and those whose deletion is requested. A deletion is not a
 * pause, so that requesting or canceling one changes no pause of the operator.
 */

/**
 * SQL: a row for each stopped team, and one without a team while the installation is paused. Not those of
 * paused domains.
 */
export const STOPPED_TEAMS = `
  select team_id from queue_pauses where lifted_at is null and domain is null
  union all select team_id from team_deletions where canceled_at is null and ended_at is null`;

/** SQL: when the last pause or deletion of each team ended, and without a team that of the installation. */
export const RESUMED_TEAMS = `
  select team_id, max(at) as at from (
    select team_id, lifted_at as at from queue_pauses where lifted_at is not null and domain is null
    union all select team_id, canceled_at from team_deletions where canceled_at is not null
  ) as ended group by team_id`;

/**
 * SQL: whether events of the endpoint `w` are sent. A pause does not stop them, a requested deletion of the
 * team does.
 */
export const HAS_EVENTS_SENT =
  "not exists (select from team_deletions x where x.team_id = w.team_id and x.canceled_at is null)";

/** SQL: since when events of the endpoint `w` are sent again after a canceled deletion; null without one. */
export const EVENTS_RESUMED_AT =
  "(select max(x.canceled_at) from team_deletions x where x.team_id = w.team_id)";
