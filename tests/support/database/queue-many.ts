import type { HotSql } from "#db/client";
import { PRIORITIES, type Priority } from "#db/schema/emails";

export type QueueManyOptions = {
  teamId: string;
  /** The sender's domain. */
  domain: string;
  count: number;
  /** The domain of the recipients. Default: `many.example`. */
  to?: string;
  /** An interval of PostgreSQL. Default: they became due one after another in the last hours. */
  dueIn?: string;
  /** Default: normal. */
  priority?: Priority;
  /** Default: none, only a text. */
  html?: string;
};

/** Inserts queued emails with one recipient each in one statement, as if they had been accepted. */
export async function queueMany(hot: HotSql, mails: QueueManyOptions): Promise<void> {
  const {
    teamId,
    domain,
    count,
    to = "many.example",
    dueIn = null,
    priority = "normal",
    html = null,
  } = mails;
  await hot`
    with mail as materialized (
      select uuid_v7() as id, 'r' || n || '@' || ${to}::text as address, n
      from generate_series(1, ${count}::int) as n
    ), email as (
      insert into emails (id, team_id, sender, sender_address, sender_domain, "to", subject, message_id, status,
        priority)
      select id, ${teamId}, 'ann@' || ${domain}::text, 'ann@' || ${domain}::text, ${domain}, jsonb_build_array(address),
        'Hello', id || '@' || ${domain}::text, 'queued', ${priority} from mail
    ), body as (
      insert into email_bodies (team_id, email_id, html, text) select ${teamId}, id, ${html}::text, 'Hello' from mail
    )
    insert into deliveries (id, team_id, email_id, position, kind, address, domain, status, priority, due_at)
    select uuid_v7(), ${teamId}, id, 0, 'to', address, ${to}, 'queued', ${PRIORITIES.indexOf(priority)}::smallint,
      coalesce(now() + ${dueIn}::text::interval, now() - (${count}::int - n) * interval '1 ms')
    from mail`;
}
