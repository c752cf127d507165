import type { Deps } from "#server/deps";

/**
 * What can change in a team: its emails and what is counted of them, its webhooks' deliveries, and everything
 * in its audit log.
 */
export const TOPICS = ["emails", "webhooks", "settings"] as const;
export type Topic = (typeof TOPICS)[number];

/** A text per topic that differs after each change. Null without any entry. */
export type Marks = Record<Topic, string | null>;

/**
 * Newest rows in a mark. Events are ordered by transaction, and a transaction can commit after a later one. A
 * mark of several rows includes its events then; a mark of the newest event alone would not.
 */
const rowsInMark = 32;
/** Deliveries of each endpoint in a mark: the newest ones, and those that are attempted next. */
const deliveriesInMark = 8;

/**
 * The team's marks. One statement, which reads a bounded number of entries of each index whatever the team
 * has sent.
 */
export async function getMarks({ hot }: Pick<Deps, "hot">, teamId: string): Promise<Marks> {
  const [marks] = await hot<[Marks]>`
    select
      (select md5(string_agg(id::text, ',')) from (
         select id from email_events where team_id = ${teamId}
         order by position desc, id desc limit ${rowsInMark}) as newest) as emails,
      (select md5(string_agg(concat_ws(' ', w.id, w.status, w.failures, w.paused_until, newest.states, next.states), ';'
         order by w.id))
       from webhooks w
       cross join lateral (
         select string_agg(concat_ws(':', id, status, attempts), ',') as states from (
           select id, status, attempts from webhook_deliveries
           where team_id = w.team_id and webhook_id = w.id order by id desc limit ${deliveriesInMark}) as d) as newest
       cross join lateral (
         select string_agg(concat_ws(':', id, attempts), ',') as states from (
           select id, attempts from webhook_deliveries
           where team_id = w.team_id and webhook_id = w.id and status = 'pending'
           order by due_at, id limit ${deliveriesInMark}) as d) as next
       where w.team_id = ${teamId}) as webhooks,
      (select md5(string_agg(id::text, ',')) from (
         select id from audit_log where team_id = ${teamId} order by id desc limit ${rowsInMark}) as newest) as settings`;
  return marks;
}
