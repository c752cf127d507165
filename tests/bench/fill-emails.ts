import type { HotSql } from "#db/client";

export const RARE = {
  key: "01900000-0000-7000-8000-00000000c0de",
  domain: "rare.example",
  to: "rare@customers.example",
} as const;
export const COMMON = { key: "01900000-0000-7000-8000-00000000beef", domain: "bench.example" } as const;

const atOnce = 20_000;

/**
 * Emails as after a month of sending, oldest first, with ids of their time: nearly all delivered, by one key
 * from one domain, with one of two tags. One in ten thousand is by a rare key, from a rare domain, with a
 * rare tag, to one recipient, spread over the month; one in fifty bounced.
 */
export async function fillEmails(hot: HotSql, teamId: string, count: number): Promise<void> {
  for (let from = 1; from <= count; from += atOnce)
    await insertPart(hot, teamId, { from, to: Math.min(count, from + atOnce - 1), count });
  await hot.unsafe("vacuum analyze emails");
  await hot.unsafe("vacuum analyze deliveries");
  await hot.unsafe("vacuum analyze email_events");
}

async function insertPart(
  hot: HotSql,
  teamId: string,
  { from, to, count }: { from: number; to: number; count: number },
): Promise<void> {
  await hot`
    with mail as materialized (
      select n, at, n % 10000 = 17 as is_rare,
        (substr(hex, 1, 8) || '-' || substr(hex, 9, 4) || '-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid as id,
        case when n % 50 = 3 then 'bounced' else 'delivered' end as status
      from (
        select n, at, lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') as hex
        from generate_series(${from}::int, ${to}::int) as n
          cross join lateral (select now() - interval '30 days' * (${count}::int - n) / ${count}::int) as t(at)
      ) as numbered
    ), email as (
      insert into emails (id, team_id, api_key_id, sender, sender_address, sender_domain, "to", subject, tags, message_id,
        status, created_at)
      select id, ${teamId}, (case when is_rare then ${RARE.key} else ${COMMON.key} end)::uuid, 'ann@' || d.domain,
        'ann@' || d.domain, d.domain, jsonb_build_array(a.address), case when is_rare then 'Rare' else 'Your order ' || n end,
        jsonb_build_array(jsonb_build_object('name', 'kind', 'value',
          case when is_rare then 'rare' when n % 2 = 0 then 'receipt' else 'news' end)),
        id || '@' || d.domain, status, at
      from mail
        cross join lateral (select case when is_rare then ${RARE.domain} else ${COMMON.domain} end) as d(domain)
        cross join lateral (select case when is_rare then ${RARE.to} else 'reader-' || n || '@customers.example' end) as a(address)
      returning id
    ), delivery as (
      insert into deliveries (id, team_id, email_id, position, kind, address, domain, status, attempts, due_at, updated_at)
      select id, ${teamId}, id, 0, 'to',
        case when is_rare then ${RARE.to} else 'reader-' || n || '@customers.example' end, 'customers.example', status, 1,
        at, at from mail
    )
    insert into email_events (id, team_id, email_id, delivery_id, type, recipient, created_at)
    select uuid_v7(), ${teamId}, id, case when e.type = 'email.queued' then null else id end, e.type, null,
      at + e.after from mail cross join lateral (
        values ('email.queued', interval '0'), ('email.' || status, interval '2 seconds')) as e(type, after)`;
}
