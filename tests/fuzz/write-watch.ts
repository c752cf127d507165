import type { HotSql } from "#db/client";
import { readTables } from "../support/database/tenants";

/** Reports what was committed between two calls, by triggers whose rows belong to the transaction. */
export type WriteWatch = {
  /** What was written since the last call, such as `insert on emails`, each once. */
  since(): Promise<string[]>;
};

/** Written later by design: the request log, and counters that are updated from the feed by any reader. */
const WRITTEN_LATER = ["api_requests", "usage_days", "usage_progress"];

/** Watches every table but those that are written later. A change of only `last_used_at` is ignored. */
export async function watchWrites(hot: HotSql): Promise<WriteWatch> {
  await hot.unsafe(`
    create schema watch;
    create unlogged table watch.writes (n bigserial primary key, what text not null);
    create function watch.note() returns trigger language plpgsql as $$
    begin
      if tg_op = 'UPDATE' and to_jsonb(old) - 'last_used_at' = to_jsonb(new) - 'last_used_at' then return null; end if;
      insert into watch.writes (what) values (lower(tg_op) || ' on ' || tg_table_name);
      return null;
    end $$;`);
  for (const { name } of await readTables(hot))
    if (!WRITTEN_LATER.includes(name))
      await hot.unsafe(
        `create trigger watched after insert or update or delete on "${name}" for each row execute function watch.note()`,
      );
  let last = 0;
  return {
    async since() {
      const rows = await hot<{ n: number; what: string }[]>`
        select max(n)::int as n, what from watch.writes where n > ${last} group by what`;
      last = rows.reduce((most, { n }) => Math.max(most, n), last);
      return rows.map(({ what }) => what);
    },
  };
}
