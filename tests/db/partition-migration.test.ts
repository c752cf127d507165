import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import postgres from "postgres";
import { expect, onTestFinished, test } from "vitest";
import { listOwnTables, migrateDatabase } from "#db/migrate";
import { listPartitions } from "#db/partitions";
import { newId } from "#server/platform/ids";
import { copyBackup } from "../support/database/copy-backup";
import { createRoleDatabase } from "../support/database/role-database";

const ownFolder = fileURLToPath(new URL("../../db/migrations", import.meta.url));
/** The last migration of release 0.2.0. */
const RELEASED = 1;
/** The rows of an email that was sent and announced, with the columns of release 0.2.0. */
const ROWS: Record<string, string> = {
  teams: "id, name) values ($1, 'Team'",
  webhooks:
    "team_id, id, url, events, secret) values ($1, $2, 'https://example.org', '{email.sent}', 'sealed'",
  emails: `id, team_id, sender, sender_address, sender_domain, "to", subject, message_id, status)
    values ($3, $1, 'a@example.org', 'a@example.org', 'example.org', '["ann@example.net"]', 'Hello', 'm', 'sent'`,
  email_bodies: "team_id, email_id, html) values ($1, $3, '<p>Hello</p>'",
  attachments: `team_id, id, email_id, position, content_type, size_bytes, content)
    values ($1, $4, $3, 0, 'text/plain', 1, 'x'`,
  captured_messages: "team_id, email_id, raw) values ($1, $3, 'x'",
  deliveries: `id, team_id, email_id, position, kind, address, domain, status)
    values ($4, $1, $3, 0, 'to', 'ann@example.net', 'example.net', 'sent'`,
  // Its trigger adds the event delivery.
  email_events: "id, team_id, email_id, type) values ($4, $1, $3, 'email.sent'",
  api_requests:
    "team_id, id, api_key_id, method, path, status) values ($1, $4, $2, 'POST', '/api/emails', 200",
  webhook_attempts: `team_id, delivery_id, id, number, url, headers, status_code, duration_ms)
    select $1, id, $4, 1, 'https://example.org', '{}', 200, 1 from webhook_deliveries where (true`,
};

test("a backup of release 0.2.0 is restored into the partitions, with every row", async () => {
  const [former, empty] = [await createRoleDatabase(), await createRoleDatabase()];
  const folder = await mkdtemp(path.join(tmpdir(), "backstamp migrations "));
  await cp(ownFolder, folder, { recursive: true });
  const file = path.join(folder, "meta/_journal.json");
  const journal = JSON.parse(await readFile(file, "utf8"));
  journal.entries = journal.entries.slice(0, RELEASED + 1);
  await writeFile(file, JSON.stringify(journal));
  await migrateDatabase(former.url, { folder });
  const [sql, restored] = [former, empty].map(({ url }) => postgres(url, { max: 1, onnotice: () => {} }));
  if (!sql || !restored) throw new Error("two databases");
  onTestFinished(async () => {
    await Promise.all([sql.end(), restored.end()]);
    await Promise.all([former.drop(), empty.drop(), rm(folder, { recursive: true, force: true })]);
  });
  const ids = Array.from({ length: 4 }, newId);
  for (const [table, row] of Object.entries(ROWS)) {
    const filled = row.replaceAll(/\$(\d)/g, (_, nth) => `'${ids[nth - 1]}'`);
    await sql.unsafe(`insert into ${table} (${filled})`);
  }
  const { catalog, load } = await copyBackup(former.url);
  await migrateDatabase(empty.url, {
    load: { at: catalog.migrations.map(({ at }) => at), run: () => load(empty.url, listOwnTables()) },
  });
  for (const table of ["webhook_deliveries", ...Object.keys(ROWS).slice(2)]) {
    // Release 0.2.0 does not have the columns that were added later.
    const columns = catalog.tables.find(({ name }) => name === table)?.columns ?? [];
    const [before, after] = await Promise.all(
      [sql, restored].map((one) => one`select ${one(columns)} from ${one(table)}`),
    );
    expect(after).toHaveLength(1);
    expect(after?.[0]).toEqual(before?.[0]);
    expect(await listPartitions(restored as never, table)).toHaveLength(1);
  }
});
