import postgres from "postgres";

const TABLES = [
  "emails",
  "email_bodies",
  "deliveries",
  "queue",
  "email_events",
  "webhook_deliveries",
  "webhook_attempts",
];

/** Without `webhookId` there are no event deliveries. */
export type HotRows = { teamId: string; webhookId?: string; count: number };

/** Deliveries that wait for tomorrow. */
const waitingMax = 10_000;

/**
 * Adds delivered emails of the last weeks, one per recipient, with their bodies, an event, and an event
 * delivery with its attempt. The first ones have another recipient, who waits.
 */
export async function fillHotTables(url: string, rows: HotRows): Promise<void> {
  await inTransaction(url, (sql) => insertRows(sql, rows));
}

/** The same into empty tables, for a million rows: their indexes are built at the end. */
export async function refillHotTables(url: string, rows: HotRows): Promise<void> {
  await inTransaction(url, async (sql) => {
    await sql.unsafe(`truncate ${TABLES.join(", ")}`);
    const partitions = await sql<{ name: string }[]>`
      select inhrelid::regclass::text as name from pg_inherits where inhparent::regclass::text = any(${TABLES})`;
    const names = partitions.map(({ name }) => name);
    await sql`update pg_index set indisready = false where indrelid = any(${names}::text[]::regclass[])`;
    await insertRows(sql, rows);
    for (const name of names) await sql.unsafe(`reindex table ${name}`);
    const unbuilt = await sql`select from pg_index where not indisready`;
    if (unbuilt.length > 0) throw new Error("Not every index was built.");
  });
}

/** Gives the planner statistics. */
export async function analyze(url: string): Promise<void> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  await sql`vacuum analyze`;
  await sql.end();
}

async function inTransaction(
  url: string,
  work: (sql: postgres.TransactionSql) => Promise<void>,
): Promise<void> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  await sql.begin(work);
  await sql.end();
}

async function insertRows(
  sql: postgres.TransactionSql,
  { teamId, webhookId, count }: HotRows,
): Promise<void> {
  // No triggers, which search each row's email.
  await sql`set local session_replication_role = replica`;
  await sql`
    create temporary table mail on commit drop as
    select at, 'r' || n || '@customers.example' as address,
      (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || '70008000' || lpad(to_hex(n), 12, '0'))::uuid as id
    from generate_series(1, ${count}::int) as n cross join lateral (
      select now() - interval '1 minute' - interval '20 days' * (${count}::int - n) / ${count}::int) as t(at)`;
  await sql`
    insert into emails (id, team_id, sender, sender_address, sender_domain, "to", subject, message_id, status, created_at)
    select id, ${teamId}, 'ann@example.org', 'ann@example.org', 'example.org', jsonb_build_array(address), 'Hello',
      id || '@example.org', 'delivered', at from mail`;
  await sql`insert into email_bodies (team_id, email_id, text) select ${teamId}, id, 'Hello' from mail`;
  await sql`
    insert into deliveries (id, team_id, email_id, position, kind, address, domain, status, attempts, due_at, updated_at)
    select id, ${teamId}, id, 0, 'to', address, 'customers.example', 'delivered', 1, at, at from mail`;
  await sql`
    insert into deliveries (id, team_id, email_id, position, kind, address, domain, status, due_at)
    select uuid_v7(), ${teamId}, id, 1, 'cc', 'cc-' || address, 'customers.example', 'queued', now() + interval '1 day'
    from mail order by id limit ${waitingMax}`;
  await sql`
    insert into queue (id, team_id, email_id, status, priority, due_at, attempts, lapses)
    select id, team_id, email_id, status, priority, due_at, attempts, lapses from deliveries
    where status = 'queued' and due_at > now() on conflict do nothing`;
  await sql`
    insert into email_events (id, team_id, email_id, delivery_id, type, recipient, created_at)
    select id, ${teamId}, id, id, 'email.delivered', address, at from mail`;
  if (webhookId === undefined) return;
  await sql`
    insert into webhook_deliveries (id, team_id, webhook_id, type, email_id, event_id, payload, status, attempts, due_at,
      created_at)
    select id, ${teamId}, ${webhookId}, 'email.delivered', id, id, '{}', 'success', 1, at, at from mail`;
  await sql`
    insert into webhook_attempts (team_id, delivery_id, id, number, url, headers, status_code, duration_ms, sent_at)
    select ${teamId}, id, id, 1, 'https://example.org', '{}', 200, 1, at from mail`;
}
