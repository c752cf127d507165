import { expect, test } from "vitest";
import { openFreshDatabase } from "../support/database/postgres";
import { GLOBAL_TABLES, readTables } from "../support/database/tenants";
import { forAllTests } from "../support/fixtures";

const database = forAllTests(openFreshDatabase);

/** Composite indexes that do not start with the team, and their readers. */
const ACROSS_TEAMS: Record<string, string> = {
  account_events_user_idx: "a user reads their own account events",
  accounts_provider_provider_account_id_pk: "a provider reports by its own ids",
  accounts_user_provider_key: "a user has one account per provider",
  callback_tokens_relay_id_token_pk: "a token belongs to a relay, which may belong to the installation",
  deliveries_provider_idx: "a provider reports by its own ids, for every team",
  deliveries_suspect_idx: "a worker of release 0.2.0 claims due deliveries of every team",
  destination_states_source_destination_pk: "a destination is that of every team",
  queue_destination_idx: "a worker makes due what waits for a destination, of every team",
  queue_suspect_idx: "a worker claims due deliveries of every team",
  webhook_deliveries_due_idx: "a worker reads each endpoint's queue",
  webhook_deliveries_attempting_idx: "a worker reads each endpoint's queue",
  api_key_domains_api_key_id_domain_id_pk: "a key is looked up before its team is known",
};

test("each tenant table has a team id", async () => {
  const without = (await readTables(database.hot)).filter(({ hasTeam }) => !hasTeam);
  expect(without.map(({ name }) => name)).toEqual(GLOBAL_TABLES);
  const nullable = await database.hot`
    select table_name as name from information_schema.columns
    where table_schema = 'public' and column_name = 'team_id' and is_nullable = 'YES'`;
  // An alert, a relay and a pause can belong to the whole installation.
  expect(nullable.map(({ name }) => name).sort()).toEqual(["alerts", "queue_pauses", "relays"]);
});

test("the team is the first column of each composite index, except for queries across teams", async () => {
  const indexes = await database.hot<{ name: string }[]>`
    select i.indexrelid::regclass::text as name
    from pg_index i join pg_class t on t.oid = i.indrelid
      join pg_namespace n on n.oid = t.relnamespace
      join pg_attribute a on a.attrelid = t.oid and a.attnum = i.indkey[0]
    where n.nspname = 'public' and not t.relispartition and i.indnkeyatts > 1 and a.attname <> 'team_id'
    order by name`;
  expect(indexes.map(({ name }) => name)).toEqual(Object.keys(ACROSS_TEAMS).sort());
});

test("each foreign key between tenant tables includes the team", async () => {
  const loose = await database.hot<{ name: string }[]>`
    select c.conname as name
    from pg_constraint c
      join pg_namespace n on n.oid = c.connamespace
      join pg_class target on target.oid = c.confrelid
    where c.contype = 'f' and n.nspname = 'public' and target.relname not in ${database.hot([...GLOBAL_TABLES])}
      and not exists (select from pg_attribute a
        where a.attrelid = c.conrelid and a.attnum = any(c.conkey) and a.attname = 'team_id')
    order by name`;
  expect(loose.map(({ name }) => name)).toEqual([
    // The notification of one user.
    "alert_notices_alert_id_alerts_id_fk",
    // The relay's own row, which has no team either.
    "callback_tokens_relay_id_relays_id_fk",
  ]);
});
