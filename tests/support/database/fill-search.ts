import type { HotSql } from "#db/client";

export const SEARCHED = {
  rareKey: "01900000-0000-7000-8000-00000000c0de",
  commonKey: "01900000-0000-7000-8000-00000000beef",
  rareRecipient: "rare@rare.example",
} as const;

/**
 * `count` emails of one team over 90 days, beside a tenth as many of another team at the same times. All are
 * by one key and from one domain, to different recipients, and "order" is in every subject. The 17th has the
 * word "zebra", the rare key, sender, tag and recipient. "Newsletter" is in every subject of the older half
 * and in none of the newer half. Even ones are "paid" and odd ones "open", and the 17th is both.
 */
export async function fillSearch(hot: HotSql, teamId: string, otherId: string, count: number): Promise<void> {
  await hot.begin(async (tx) => {
    // That of the product is for its own statements.
    await tx`set local statement_timeout = 0`;
    await tx`
      with mail as (
        select n, ms, n = 17 as is_rare, o.team_id,
          (lpad(to_hex(ms), 12, '0') || '70008000' || lpad(to_hex(n), 12, '0'))::uuid as id,
          case when n = 17 then 'sender.example' else 'bench.example' end as domain,
          case when n = 17 then ${SEARCHED.rareRecipient} else 'r' || n || '@customers.example' end as recipient
        from generate_series(1, ${count}::int) as n
          cross join lateral (select (extract(epoch from current_date - 90) * 1000)::bigint + 7776000000 * n::bigint / ${count}::int)
            as t(ms)
          join (values (${teamId}::uuid, 1), (${otherId}::uuid, 10)) as o(team_id, share) on n % o.share = 0
      ), email as (
        insert into emails (id, team_id, api_key_id, sender, sender_address, sender_domain, "to", subject, tags, message_id,
          status, created_at)
        select id, team_id, (case when is_rare then ${SEARCHED.rareKey} else ${SEARCHED.commonKey} end)::uuid,
          'ann@' || domain, 'ann@' || domain, domain, jsonb_build_array(recipient),
          case when n * 2 < ${count}::int then 'Newsletter order ' else 'Your order ' end || n ||
            case when is_rare then ' zebra paid open' when n % 2 = 0 then ' paid' else ' open' end,
          case when is_rare then '[{"name": "kind", "value": "rare"}]'::jsonb
            else '[{"name": "kind", "value": "receipt"}]' end,
          n || '@' || domain, 'delivered', to_timestamp(ms / 1000.0)
        from mail
      )
      insert into deliveries (id, team_id, email_id, position, kind, address, domain, status)
      select id, team_id, id, 0, 'to', recipient, split_part(recipient, '@', 2), 'delivered' from mail`;
  });
  for (const table of ["emails", "deliveries"]) await hot.unsafe(`vacuum analyze ${table}`);
}
