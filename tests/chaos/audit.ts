import type { HotSql } from "#db/client";
import type { EventRow, MailRow, RecipientRow, Step } from "./records";

/**
 * Makes a database write down every change of a delivery in the transaction that makes it, with the clock's time, and
 * every attempt to alter what is append-only. Triggers of this one database; the product knows nothing of them.
 */
export async function auditDatabase(hot: HotSql): Promise<void> {
  await hot.unsafe(`
    create table audit_steps (
      n bigint generated always as identity primary key, at timestamptz not null, delivery_id uuid not null,
      old_state jsonb, new_state jsonb not null
    );
    create table audit_tampering (n bigint generated always as identity primary key, what text not null);

    create function audit_state(d deliveries) returns jsonb language sql immutable as $$
      select jsonb_build_object('status', d.status, 'stage', d.stage, 'attempts', d.attempts,
                                'leaseToken', d.lease_token) $$;
    create function audit_step() returns trigger language plpgsql as $$ begin
      if tg_op = 'INSERT' then
        insert into audit_steps (at, delivery_id, new_state) values (clock_timestamp(), new.id, audit_state(new));
      elsif audit_state(old) <> audit_state(new) then
        insert into audit_steps (at, delivery_id, old_state, new_state)
        values (clock_timestamp(), new.id, audit_state(old), audit_state(new));
      end if;
      return null;
    end $$;
    create trigger audit_step after insert or update on deliveries for each row execute function audit_step();

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
}

/** Every step on record, in order. */
export async function readSteps(hot: HotSql): Promise<Step[]> {
  return hot<Step[]>`
    select delivery_id as "deliveryId", (extract(epoch from at) * 1000)::float8 as "atMs",
      old_state as "from", new_state as "to"
    from audit_steps order by n`;
}

export async function readTampering(hot: HotSql): Promise<string[]> {
  const rows = await hot<{ what: string }[]>`select what from audit_tampering order by n`;
  return rows.map(({ what }) => what);
}

/** All mails with what became of them. */
export async function readMails(hot: HotSql): Promise<MailRow[]> {
  type Row = Omit<MailRow, "recipients" | "events"> & { recipients: RecipientRow[]; events: EventRow[] };
  return hot<Row[]>`
    select e.id, e.subject as label, e.message_id as "messageId", e.status,
      (select k.key from idempotency_keys k where k.answer ->> 'id' = e.id::text) as key,
      (select count(*)::int from email_bodies b where b.email_id = e.id) as bodies,
      (select coalesce(jsonb_agg(jsonb_build_object('id', d.id, 'address', d.address, 'status', d.status,
                'attempts', d.attempts, 'lapses', d.lapses)), '[]')
       from deliveries d where d.email_id = e.id) as recipients,
      (select coalesce(jsonb_agg(jsonb_build_object('type', v.type, 'recipient', v.recipient,
                'attempt', v.data -> 'attempt', 'atMs', extract(epoch from v.created_at) * 1000)
                order by v.created_at, v.id), '[]')
       from email_events v where v.email_id = e.id) as events
    from emails e order by e.id`;
}
