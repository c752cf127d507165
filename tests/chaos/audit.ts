import type { Sql } from "postgres";
import type { EmailRow, Step } from "./records";

/** A database client of the harness: it sees all tables, without forced plans. */
export type Ask = Sql;

/**
 * Makes a database log every change of a delivery, at the commit of the transaction that makes it, with the
 * time, and every attempt to change append-only rows. These are triggers of this database; the product does
 * not know about them. The state of a delivery is that of its row in the queue while it is leased there.
 */
export async function auditDatabase(hot: Ask): Promise<void> {
  await hot.unsafe(`
    create table audit_steps (
      n bigint generated always as identity primary key, at timestamptz not null, by text not null default session_user,
      delivery_id uuid not null, old_state jsonb, new_state jsonb not null
    );
    create index on audit_steps (delivery_id, n);
    create table audit_tampering (n bigint generated always as identity primary key, what text not null);

    create function audit_step() returns trigger language plpgsql as $$
    declare
      delivery uuid := case tg_op when 'DELETE' then old.id else new.id end;
      before jsonb;
      state jsonb;
    begin
      select jsonb_build_object('status', d.status, 'stage', d.stage, 'attempts', d.attempts, 'leaseToken', d.lease_token)
        into state from deliveries d where d.id = delivery;
      if to_regclass('queue') is not null then
        select jsonb_build_object('status', 'sending', 'stage', q.stage, 'attempts', q.attempts, 'leaseToken', q.lease_token)
          into state from queue q where q.id = delivery and q.lease_token is not null and state is not null
          union all select state limit 1;
      end if;
      select s.new_state into before from audit_steps s where s.delivery_id = delivery order by s.n desc limit 1;
      if state is not null and state is distinct from before then
        insert into audit_steps (at, delivery_id, old_state, new_state) values (clock_timestamp(), delivery, before, state);
      end if;
      return null;
    end $$;
    create constraint trigger audit_step after insert or update on deliveries deferrable initially deferred
      for each row execute function audit_step();

    create function audit_tampering() returns trigger language plpgsql as $$ begin
      insert into audit_tampering (what) values (tg_op || ' on ' || tg_table_name || ' of ' || old.id);
      return null;
    end $$;
    create trigger audit_events after update or delete on email_events
      for each row execute function audit_tampering();
    create trigger audit_deleted after delete on emails for each row execute function audit_tampering();
    create trigger audit_message_id after update on emails for each row
      when (old.message_id is distinct from new.message_id or old."to" is distinct from new."to"
            or old.subject is distinct from new.subject) execute function audit_tampering();`);
  await auditQueue(hot);
}

/** The same for the queue, which the schema of release 0.2.0 has only after it is migrated. */
export async function auditQueue(hot: Ask): Promise<void> {
  const [found] = await hot`
    select from pg_class c where c.oid = to_regclass('queue')
      and not exists (select from pg_trigger t where t.tgrelid = c.oid and t.tgname = 'audit_step')`;
  if (found)
    await hot.unsafe(`
      create constraint trigger audit_step after insert or update or delete on queue deferrable initially deferred
        for each row execute function audit_step()`);
}

/** Whether this process has claimed an email and not started its attempt. */
export async function isClaimedBy(hot: Ask, who: string): Promise<boolean> {
  const rows = await hot`
    select 1 from queue q where q.stage = 'claimed' and exists (
      select from audit_steps s where s.delivery_id = q.id and s.by = ${who}
        and s.new_state ->> 'leaseToken' = q.lease_token::text) limit 1`;
  return rows.length > 0;
}

/** Every recorded step, in order. */
export async function readSteps(hot: Ask): Promise<Step[]> {
  return hot<Step[]>`
    select delivery_id as "deliveryId", (extract(epoch from at) * 1000)::float8 as "atMs", by,
      old_state as "from", new_state as "to"
    from audit_steps order by n`;
}

export async function readTampering(hot: Ask): Promise<string[]> {
  const rows = await hot<{ what: string }[]>`select what from audit_tampering order by n`;
  return rows.map(({ what }) => what);
}

/** All emails with their outcomes. */
export async function readEmails(hot: Ask): Promise<EmailRow[]> {
  return hot<EmailRow[]>`
    select e.id, e.subject as label, e.message_id as "messageId", e.status, k.key,
      (select count(*)::int from email_bodies b where b.team_id = e.team_id and b.email_id = e.id) as bodies,
      (select coalesce(jsonb_agg(jsonb_build_object('id', d.id, 'address', d.address, 'status', d.status,
                'attempts', d.attempts, 'lapses', d.lapses)), '[]')
       from deliveries d where d.team_id = e.team_id and d.email_id = e.id) as recipients,
      (select coalesce(jsonb_agg(jsonb_build_object('type', v.type, 'recipient', v.recipient,
                'attempt', v.data -> 'attempt', 'atMs', extract(epoch from v.created_at) * 1000)
                order by v.created_at, v.id), '[]')
       from email_events v where v.team_id = e.team_id and v.email_id = e.id) as events
    from emails e
    left join (
      select key, coalesce(answer ->> 'id', '') as mail from idempotency_keys
      union all
      select key, item ->> 'id' from idempotency_keys, jsonb_array_elements(answer -> 'data') as item
      where jsonb_typeof(answer -> 'data') = 'array'
    ) k on k.mail = e.id::text
    order by e.id`;
}
