import { afterAll, beforeAll, expect, test } from "vitest";
import { type Database, openDatabase } from "#db/client";
import { freshDatabase } from "../support/database/postgres";

/*
 * How an erasure treats each column that can contain a text. A new column is added here together with its
 * treatment:
 * - erased: the address is replaced or the value deleted
 * - account: belongs to a user, member or operator of the console, not to a recipient
 * - settings: a member or the operator wrote it about the installation, or it is a fixed word, an id, a hash
 *   or a time
 */
const COLUMNS: Record<string, Partial<Record<"erased" | "account" | "settings", string>>> = {
  account_events: { account: "address kind subject user_agent" },
  accounts: { account: "email provider provider_account_id" },
  // Alerts of the installation. They repeat no text of a team.
  alert_calls: { settings: "payload" },
  alert_notices: { settings: "event" },
  // About domains, endpoints, relays and teams. The message repeats the reason of a pause.
  alerts: { erased: "message", settings: "kind name subject" },
  api_keys: { settings: "client_networks limits name scopes secret_hash token_id" },
  api_requests: {
    erased: "path rejection_detail request_body response_body user_agent",
    settings: "email_ids method rejection_reason",
  },
  // In emails to others, only text files are searched.
  attachments: { erased: "content filename", settings: "content_id content_type" },
  audit_log: {
    erased: "detail subject_name",
    account: "actor_name",
    settings: "action actor request_id subject_id",
  },
  backups: { settings: "fault location name status" },
  callback_tokens: { settings: "body token" },
  captured_messages: { erased: "raw" },
  deliveries: {
    erased: "address domain last_host last_reason last_text provider_id",
    settings: "kind last_enhanced stage status wait_rule",
  },
  // Tags contain only letters, digits, hyphens and underscores.
  destination_limits: { settings: "domain" },
  dkim_keys: { settings: "algorithm private_key public_key selector" },
  // Public DNS records.
  domains: { settings: "checks name ownership_token region return_path_label status tls tracking_subdomain" },
  email_bodies: { erased: "html idempotency_key made_text raw text" },
  email_events: { erased: "data recipient", settings: "type" },
  // Written again by triggers when the email changes.
  emails: {
    erased: "bcc cc headers message_id reply_to sender sender_address subject tags to",
    settings: "engagement priority sender_domain status traceparent",
  },
  erasure_keys: { settings: "key" },
  // Deleted at the end of the erasure; the hash remains.
  erasures: {
    erased: "address",
    settings: "actor address_hash after counts fault place request_id status waiting_ids",
  },
  idempotency_keys: { erased: "answer key", settings: "fingerprint route" },
  installation_secrets: { settings: "check_value id" },
  invitations: { account: "email", settings: "mailed_token_hash role token_hash" },
  jobs: { settings: "fault name" },
  memberships: { settings: "role" },
  passkey_challenges: { account: "challenge purpose" },
  passkeys: { account: "credential_id name public_key transports" },
  queue_pauses: {
    erased: "reason",
    account: "actor_name lifted_by_name",
    settings: "actor domain lifted_by",
  },
  recovery_codes: { account: "code_hash" },
  recipient_counts: { settings: "domain provider tag unit" },
  recipient_totals: { settings: "dimension unit value" },
  relays: {
    settings: "callback_secret callback_topic host last_fault name pause_reason provider url",
  },
  restores: { settings: "release" },
  second_steps: { account: "token_hash way" },
  sending_days: { settings: "domain" },
  sessions: { account: "address user_agent" },
  sign_in_counters: { account: "counter" },
  sign_in_tokens: { account: "purpose secret_hash" },
  smtp_url_relays: { settings: "host id last_fault" },
  suppressions: { erased: "address", settings: "origin" },
  system_mails: { account: "details last_reply message_id recipient", settings: "kind status" },
  team_deletions: { account: "actor_name canceled_by_name", settings: "actor counts fault team_name" },
  teams: { settings: "name unknown_policy" },
  // The team's own texts. The receipt counts templates with the address.
  template_versions: { settings: "html reply_to sender subject text variables" },
  templates: { settings: "alias name" },
  totp_factors: { account: "secret" },
  usage_days: { settings: "domain" },
  users: { account: "email name password_hash" },
  webhook_attempts: { erased: "headers response url", settings: "fault" },
  webhook_deliveries: { erased: "data payload", settings: "status type" },
  webhooks: { settings: "disabled_reason events last_response previous_secret secret status url" },
  workers: { settings: "host secret_ids transport" },
};

let database: Database;
let drop: () => Promise<void>;
beforeAll(async () => {
  const place = await freshDatabase();
  drop = place.drop;
  database = openDatabase(place.url, { connectionsMax: 2 });
});
afterAll(async () => {
  await database.close();
  await drop();
});

test("every column that can contain an address has a treatment", async () => {
  const columns = await database.hot<{ name: string }[]>`
    select c.table_name || '.' || c.column_name as name
    from information_schema.columns c
      join information_schema.tables t on t.table_schema = c.table_schema and t.table_name = c.table_name
    where c.table_schema = 'public' and t.table_type = 'BASE TABLE'
      and c.data_type in ('text', 'jsonb', 'json', 'bytea', 'character varying', 'ARRAY', 'inet')
      and not exists (select from pg_inherits i where i.inhrelid = c.table_name::regclass)`;
  const treated = Object.entries(COLUMNS).flatMap(([table, treatments]) =>
    Object.values(treatments).flatMap((names) => names.split(" ").map((name) => `${table}.${name}`)),
  );
  expect(columns.map(({ name }) => name).sort()).toEqual(treated.sort());
});
