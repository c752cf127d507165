/*
 * What waits in the queues, in one index step for each team and priority or endpoint, however long they are:
 * recursive queries skip through the index from one to the next. The limit of `lapses` is a literal, because
 * the planner can then use the partial index.
 */

/** SQL: rows `q` of the queue that wait, without those that crashed workers. */
export const IS_WAITING = "q.lapses < 3 and q.lease_token is null";

/** SQL, for `with recursive`: the first delivery of each team and priority that waits. */
export const WAITING = `waiting as (
    (select q.team_id, q.priority, q.due_at from queue q where ${IS_WAITING}
     order by q.team_id, q.priority, q.due_at, q.id limit 1)
    union all
    select n.team_id, n.priority, n.due_at from waiting w cross join lateral (
      select q.team_id, q.priority, q.due_at from queue q
      where ${IS_WAITING} and (q.team_id, q.priority) > (w.team_id, w.priority)
      order by q.team_id, q.priority, q.due_at, q.id limit 1) n)`;

/** SQL, for `with recursive`: the endpoints with pending events; the last row is null. */
export const WAITING_ENDPOINTS = `waiting_endpoint as (
    (select webhook_id from webhook_deliveries where status = 'pending' order by webhook_id limit 1)
    union all
    select (select d.webhook_id from webhook_deliveries d
            where d.status = 'pending' and d.webhook_id > w.webhook_id order by d.webhook_id limit 1)
    from waiting_endpoint w where w.webhook_id is not null)`;
