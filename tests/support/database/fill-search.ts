import type { HotSql } from "#db/client";

export const SEARCHED = {
  rareKey: "01900000-0000-7000-8000-00000000c0de",
  commonKey: "01900000-0000-7000-8000-00000000beef",
  rareRecipient: "rare@rare.example",
} as const;

const atOnce = 500_000;

/**
 * `count` emails of one team over 90 days, beside a tenth as many of another team at the same times. All are
 * by one key and from one domain, to different recipients, and "order" is in every subject. One in a million
 * has the word "zebra", the rare key, sender, tag and recipient. "Newsletter" is in every subject of the
 * older half and in none of the newer half. Even ones are "paid" and odd ones "open", and one in a million is
 * both.
 */
export async function fillSearch(hot: HotSql, teamId: string, otherId: string, count: number): Promise<void> {
  await hot.unsafe("set statement_timeout = 0");
  // The triggers would note each row. A search does not read the other indexes of emails.
  await hot.unsafe("alter table emails disable trigger user");
  await hot.unsafe("drop index email_terms_idx, emails_tags_idx, emails_team_status_idx");
  for (let from = 1; from <= count; from += atOnce) {
    const part = { teamId, otherId, from, to: Math.min(count, from + atOnce - 1), count };
    await insertEmails(hot, part);
    await insertTerms(hot, part);
  }
  await hot.unsafe("set maintenance_work_mem = '1GB'");
  await hot.unsafe("create index email_terms_idx on email_terms using gin (terms)");
  for (const table of ["emails", "email_terms", "deliveries"]) await hot.unsafe(`vacuum analyze ${table}`);
  await requireRealTerms(hot);
}

type Part = { teamId: string; otherId: string; from: number; to: number; count: number };

/** SQL: the numbers of a part, for one team and for every tenth the other one, with their ids. */
const numbered = (hot: HotSql, { teamId, otherId, from, to, count }: Part) => hot`
  select n, ms, n % 1000000 = 17 as is_rare, n * 2 < ${count}::int as is_old, o.team_id,
    (lpad(to_hex(ms), 12, '0') || '70008000' || lpad(to_hex(n), 12, '0'))::uuid as id
  from generate_series(${from}::int, ${to}::int) as n
    cross join lateral (select (extract(epoch from current_date - 90) * 1000)::bigint + 7776000000 * n::bigint / ${count}::int)
      as t(ms)
    join (values (${teamId}::uuid, 1), (${otherId}::uuid, 10)) as o(team_id, share) on n % o.share = 0`;

const insertEmails = (hot: HotSql, part: Part) => hot`
  with mail as (${numbered(hot, part)}), email as (
    insert into emails (id, team_id, api_key_id, sender, sender_address, sender_domain, "to", subject, tags, message_id,
      status, created_at)
    select id, team_id, (case when is_rare then ${SEARCHED.rareKey} else ${SEARCHED.commonKey} end)::uuid,
      'ann@' || d.domain, 'ann@' || d.domain, d.domain,
      jsonb_build_array(case when is_rare then ${SEARCHED.rareRecipient} else 'r' || n || '@customers.example' end),
      case when is_old then 'Newsletter order ' else 'Your order ' end || n ||
        case when is_rare then ' zebra paid open' when n % 2 = 0 then ' paid' else ' open' end,
      case when is_rare then '[{"name": "kind", "value": "rare"}]'::jsonb
        else '[{"name": "kind", "value": "receipt"}]' end,
      n || '@' || d.domain, 'delivered', to_timestamp(ms / 1000.0)
    from mail cross join lateral (select case when is_rare then 'sender.example' else 'bench.example' end) as d(domain)
  )
  insert into deliveries (id, team_id, email_id, position, kind, address, domain, status)
  select id, team_id, id, 0, 'to', case when is_rare then ${SEARCHED.rareRecipient} else 'r' || n || '@customers.example' end,
    case when is_rare then 'rare.example' else 'customers.example' end, 'delivered' from mail`;

/**
 * Writes the terms from those of one email of each kind and period. Only the number and the short periods
 * differ.
 */
const insertTerms = (hot: HotSql, part: Part) => hot`
  with mail as materialized (${numbered(hot, part)}), alike as materialized (
    select m.team_id, m.period, m.is_rare, m.is_old, m.is_even, array_agg(distinct same.term) as terms,
      search_scope(m.team_id, m.period) as scope
    from (
      select team_id, ms >> 30 as period, is_rare, is_old, n % 2 = 0 as is_even, min(id::text)::uuid as id from mail
      group by 1, 2, 3, 4, 5
    ) as m
      join emails e on e.team_id = m.team_id and e.id = m.id
      cross join lateral search_terms(e.team_id, e.id,
        regexp_replace(e.subject, '\\d+', ''), regexp_replace(e.to::text, 'r\\d+', '')::jsonb, e.sender_address,
        e.sender_domain, e.api_key_id, e.tags) as made cross join lateral unnest(made.terms) as same(term)
    where same.term not in (
      select search_term(search_scope(m.team_id, m.period), s.bits || ':' || (s.ms >> s.bits))
      from (select ('x' || left(replace(m.id::text, '-', ''), 12))::bit(48)::bigint as ms, bits
            from unnest('{25,20,15}'::int[]) as bits) as s)
    group by 1, 2, 3, 4, 5
  )
  insert into email_terms (team_id, email_id, terms)
  select m.team_id, m.id, a.terms || array[
    search_term(a.scope, '25:' || (ms >> 25)), search_term(a.scope, '20:' || (ms >> 20)),
    search_term(a.scope, '15:' || (ms >> 15)),
    search_term(a.scope, left(n::text, 3)), search_term(a.scope, left(n::text, 4)), search_term(a.scope, left(n::text, 7)),
    search_term(a.scope, left('r' || n, 3)), search_term(a.scope, left('r' || n, 4)), search_term(a.scope, left('r' || n, 7))]
  from mail m join alike a on a.team_id = m.team_id and a.period = m.ms >> 30 and a.is_rare = m.is_rare
    and a.is_old = m.is_old and a.is_even = (m.n % 2 = 0)`;

/** Throws if the terms of some emails are not those that housekeeping would have written. */
async function requireRealTerms(hot: HotSql): Promise<void> {
  const [row] = await hot<{ wrong: number; all: number }[]>`
    select count(*) filter (where not real.terms <@ t.terms)::int as wrong, count(*)::int as all
    from (select * from email_terms limit 200) as t join emails e on e.team_id = t.team_id and e.id = t.email_id
      cross join lateral search_terms(e.team_id, e.id, subject, "to" || cc || bcc, sender_address, sender_domain, api_key_id,
        tags) as real`;
  if (!row || row.wrong > 0 || row.all === 0)
    throw new Error("The terms of the emails are not those of housekeeping.");
}
