import type { HotSql } from "#db/client";

/**
 * Tables without a team: the state of relays, users and their sign-in, the system email, the running
 * processes, backups, and the teams themselves.
 */
export const GLOBAL_TABLES: readonly string[] = [
  "account_events",
  "accounts",
  "alert_calls",
  "alert_notices",
  "backups",
  "callback_tokens",
  "destination_hosts",
  "destination_limits",
  "destination_states",
  "erasure_keys",
  "installation_secrets",
  "jobs",
  "passkey_challenges",
  "passkeys",
  "recovery_codes",
  "reply_rules",
  "restores",
  "second_steps",
  "sessions",
  "sign_in_counters",
  "sign_in_tokens",
  "smtp_url_relays",
  "system_mails",
  "teams",
  "totp_factors",
  "users",
  "workers",
];

/** Planning a statement over all tables takes longer than running it. */
const PREPARED = { prepare: true };

type Table = { name: string; hasTeam: boolean; hasId: boolean };

const known = new WeakMap<HotSql, Promise<Table[]>>();

/** Every table by name, queried once per database because the catalog is slow and tests ask often. */
export function readTables(hot: HotSql): Promise<Table[]> {
  const tables = known.get(hot) ?? lookUpTables(hot);
  known.set(hot, tables);
  return tables;
}

const lookUpTables = async (hot: HotSql): Promise<Table[]> =>
  hot<Table[]>`
    select c.relname as name, bool_or(a.attname = 'team_id') as "hasTeam",
      bool_or(a.attname = 'id' and a.atttypid = 'uuid'::regtype) as "hasId"
    from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
    group by c.relname order by c.relname`;

/** The id of a team's newest row in each table with ids. */
export async function newestIds(hot: HotSql, teamId: string): Promise<Map<string, string>> {
  const tables = (await readTables(hot)).filter(({ hasTeam, hasId }) => hasTeam && hasId);
  const parts = tables.map(
    ({ name }) => `(select '${name}' as name, id from "${name}" where team_id = $1 order by id desc limit 1)`,
  );
  const rows = await hot.unsafe<{ name: string; id: string }[]>(
    parts.join(" union all "),
    [teamId],
    PREPARED,
  );
  return new Map(rows.map(({ name, id }) => [name, id]));
}

/** All ids of a team's rows. */
export async function allIds(hot: HotSql, teamId: string): Promise<Set<string>> {
  const tables = (await readTables(hot)).filter(({ hasTeam, hasId }) => hasTeam && hasId);
  const parts = tables.map(({ name }) => `select id from "${name}" where team_id = $1`);
  const rows = await hot.unsafe<{ id: string }[]>(parts.join(" union all "), [teamId], PREPARED);
  return new Set(rows.map(({ id }) => id));
}

/**
 * The tables in which a row of `teamId` contains one of these ids. The request log is excluded, because it
 * stores what the caller sent.
 */
export async function tablesThatMention(hot: HotSql, teamId: string, ids: string[]): Promise<string[]> {
  const tables = (await readTables(hot)).filter(({ name, hasTeam }) => hasTeam && name !== "api_requests");
  const parts = tables.map(
    ({ name }) =>
      `select '${name}' as name where exists (select from "${name}" t where team_id = $1 and to_jsonb(t)::text ~ $2)`,
  );
  const rows = await hot.unsafe<{ name: string }[]>(
    parts.join(" union all "),
    [teamId, ids.join("|")],
    PREPARED,
  );
  return rows.map(({ name }) => name);
}
