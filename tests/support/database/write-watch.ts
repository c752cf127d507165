import type { HotSql } from "#db/client";
import { readTables } from "./tenants";

/** Reports what was committed between two calls, by triggers whose rows belong to the transaction. */
export type WriteWatch = {
  /**
   * What was written since the last call, such as `insert on emails`, each once. With `teamId`, only rows of
   * that team: what other teams wrote in the meantime is forgotten.
   */
  since(teamId?: string): Promise<string[]>;
};

/** Written later by design: the request log, and counters that are updated from the feed by any reader. */
export const WRITTEN_LATER = ["api_requests", "recipient_counts", "recipient_totals", "metrics_progress"];

/**
 * Watches every table except `ignored`. A change of only `last_used_at` is ignored. Unlike a comparison of
 * all rows before and after, it costs one small statement per check, and it also reports a row that was
 * inserted and deleted.
 */
export async function watchWrites(
  hot: HotSql,
  ignored: readonly string[] = WRITTEN_LATER,
): Promise<WriteWatch> {
  const watched = (await readTables(hot)).map(({ name }) => name).filter((name) => !ignored.includes(name));
  await hot.unsafe(`
    create schema watch;
    create unlogged table watch.writes (n bigserial primary key, what text not null, team_id text);
    create function watch.note() returns trigger language plpgsql as $$
    declare
      line jsonb := case when tg_op = 'DELETE' then to_jsonb(old) else to_jsonb(new) end - 'last_used_at';
    begin
      if tg_op = 'UPDATE' and to_jsonb(old) - 'last_used_at' = line then return null; end if;
      insert into watch.writes (what, team_id)
      values (lower(tg_op) || ' on ' || tg_table_name, line->>(case tg_table_name when 'teams' then 'id' else 'team_id' end));
      return null;
    end $$;
    ${watched.map(triggerOn).join(";")}`);
  let last = 0;
  return {
    async since(teamId) {
      const rows = await hot<{ n: number; what: string; team_id: string | null }[]>`
        select max(n)::int as n, what, team_id from watch.writes where n > ${last} group by what, team_id`;
      last = rows.reduce((most, { n }) => Math.max(most, n), last);
      const own = rows.filter(({ team_id }) => teamId === undefined || team_id === teamId);
      return [...new Set(own.map(({ what }) => what))].sort();
    },
  };
}

const triggerOn = (table: string) =>
  `create trigger watched after insert or update or delete on "${table}" for each row execute function watch.note()`;
