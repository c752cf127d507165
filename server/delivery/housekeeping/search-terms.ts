import type { HotSql } from "#db/client";
import type { WorkerDeps } from "#server/deps";

const emailsPerStep = 500;
/** With a run every 30 s, 20 million emails take about eight hours, and little of the time of a processor. */
const stepsPerRun = 40;

/**
 * Writes the search terms of emails that are new or changed, and then those of emails that are older than the
 * table of the terms, the newest first. Until then, a search finds an email only among the newest. It works
 * in small steps and stops between them when `shouldContinue` returns false; the next run continues there.
 * Without such emails it costs two reads of an empty table.
 */
export async function writeMissingTerms(
  { hot, log }: Pick<WorkerDeps, "hot" | "log">,
  shouldContinue: () => boolean,
): Promise<void> {
  let step = 0;
  const mayContinue = () => step++ < stepsPerRun && shouldContinue();
  while (mayContinue()) {
    const count = await writePending(hot);
    if (count > 0) await emptyPendingEntries(hot);
    if (count < emailsPerStep) break;
  }
  while (mayContinue()) {
    const done = await writeOlder(hot);
    if (!done) return;
    await emptyPendingEntries(hot);
    if (done.emails === 0) log.info("search.indexed", { teamId: done.teamId });
  }
}

/**
 * SQL: the terms of the rows of `emails` with this name. Locked rows, so that an email is not deleted before
 * its terms exist. Everything locks emails in the order of their ids, or skips them.
 */
const termsOf = (emails: string) => `
  insert into email_terms (team_id, email_id, terms)
  select team_id, id, t.terms from ${emails}
    cross join lateral search_terms(team_id, id, subject, "to" || cc || bcc, sender_address, sender_domain, api_key_id, tags) as t
  on conflict (team_id, email_id) do update set terms = excluded.terms
    where email_terms.terms is distinct from excluded.terms`;

/**
 * Returns how many notes it took. It skips those that another worker takes, and those of emails that are
 * being changed.
 */
async function writePending(hot: HotSql): Promise<number> {
  const [row] = await hot.unsafe<{ count: number }[]>(`
    with noted as materialized (
      select team_id, email_id from email_terms_pending order by team_id, email_id limit ${emailsPerStep}
      for update skip locked
    ), email as materialized (
      select e.* from noted join emails e on (e.team_id, e.id) = (noted.team_id, noted.email_id)
      for key share of e skip locked
    ), taken as (
      delete from email_terms_pending p using noted
      where (p.team_id, p.email_id) = (noted.team_id, noted.email_id)
        and ((p.team_id, p.email_id) in (select team_id, id from email)
          or not exists (select from emails e where (e.team_id, e.id) = (p.team_id, p.email_id)))
      returning p.email_id
    ), terms as (${termsOf("email")})
    select count(*)::int as count from taken`);
  return row?.count ?? 0;
}

/**
 * Sorts the entries of a step into the index. Together they cost a sixth of what they cost one by one, and
 * until then each read of a search also reads all of them.
 */
async function emptyPendingEntries(hot: HotSql): Promise<void> {
  await hot`select gin_clean_pending_list(relid) from pg_partition_tree('email_terms_idx') where isleaf`;
}

async function writeOlder(hot: HotSql): Promise<{ teamId: string; emails: number } | undefined> {
  const [done] = await hot.unsafe<{ teamId: string; emails: number }[]>(`
    with team as materialized (
      select team_id, next_id from email_terms_backlog order by team_id limit 1 for update skip locked
    ), next as materialized (
      select e.team_id, e.id from emails e
      where e.team_id = (select team_id from team) and e.id < (select next_id from team)
      order by e.id desc limit ${emailsPerStep}
    ), older as materialized (
      select e.* from next join emails e on (e.team_id, e.id) = (next.team_id, next.id)
      order by e.id for key share of e
    ), terms as (${termsOf("older")}
    ), moved as (
      update email_terms_backlog b set next_id = (select id from next order by id limit 1)
      from team where b.team_id = team.team_id and exists (select from next)
    ), ended as (
      delete from email_terms_backlog b using team where b.team_id = team.team_id and not exists (select from next)
    )
    select team_id as "teamId", (select count(*)::int from next) as emails from team`);
  return done;
}
