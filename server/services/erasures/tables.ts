import { ERASED_ADDRESS, ERASED_DOMAIN } from "#db/schema/audit";
import type { EXCEPTIONS } from "#server/shared/erasure-exceptions";

/** What an erasure does with a value that contains the address. */
export type Treatment =
  /** The address is replaced in the text, in each text of the JSON, or in each text of the JSON in a text. */
  | "text"
  | "json"
  | "document"
  /** JSON that is deleted whole, because the rest is about the same person. */
  | "body"
  /** The bytes of a file: replaced in texts. */
  | "file"
  /** The bytes of a message: deleted. */
  | "message";

/** Why a column is not searched. `fixed`: a word, an id, a hash, a key or a time of the program. */
type Unsearched = keyof typeof EXCEPTIONS | "fixed" | "separate";

/** Columns by their treatment, with blanks between their names. */
export type StoredTable = Partial<Record<Treatment | Unsearched, string>> & {
  /** The primary key after the team. Only tables with searched columns have it. */
  key?: readonly string[];
  keyType?: "text";
  /** Belongs to an email. If it is to the address, its rows are `deleted` or have these values (SQL). */
  own?: string;
  /** Whether a row that contains the address is deleted, because it has no other use. */
  isDeleted?: true;
  /** SQL: which rows are read. */
  where?: string;
  /** The column whose id contains the time of the row: later passes read only new rows, from it on. */
  timed?: string;
  /** The key in later passes, if `key` does not begin with `timed`: an index that begins with new rows. */
  laterKey?: readonly string[];
  /** Whether an attempt in progress must store nothing, because it has the values of before. */
  isLeased?: true;
  /** SQL: rows whose key must stay, because a program can still use it. The erasure waits for them. */
  keptWhile?: string;
};

/**
 * Every table with texts, JSON or bytes, and what an erasure and an export do with each of these columns. An
 * export has what is searched here. Records are read in this order.
 */
export const TABLES: Record<string, StoredTable> = {
  emails: {
    key: ["id"],
    text: "sender sender_address subject message_id",
    json: "to cc bcc reply_to tags headers",
    fixed: "engagement priority sender_domain status traceparent tracking_host",
    settings: "list_name",
    own: "subject = '(erased)', tags = '[]', headers = '[]'",
  },
  attachments: {
    key: ["email_id", "id"],
    text: "filename content_id",
    file: "content",
    fixed: "content_type",
    own: "deleted",
  },
  email_bodies: {
    key: ["email_id"],
    text: "html text made_text idempotency_key",
    message: "raw",
    own: "deleted",
  },
  captured_messages: { key: ["email_id"], message: "raw", isDeleted: true, own: "deleted" },
  return_copies: {
    key: ["email_id", "id"],
    text: "last_reply",
    message: "message",
    settings: "recipient",
    fixed: "kind message_hash status",
    isDeleted: true,
    own: "deleted",
  },
  deliveries: {
    key: ["email_id", "id"],
    text: "address domain last_text last_reason last_host provider_id",
    fixed: "kind last_enhanced stage status wait_rule",
    own: `address = '${ERASED_ADDRESS}', domain = '${ERASED_DOMAIN}', last_text = null, last_reason = null,
      last_host = null, provider_id = null`,
  },
  queue: { fixed: "destination stage status" },
  // Of the recipient's events, only the figures remain (`figuresOf`).
  email_events: { key: ["email_id", "id"], text: "recipient", json: "data", fixed: "type", own: "" },

  webhook_deliveries: {
    key: ["webhook_id", "id"],
    json: "data",
    document: "payload",
    fixed: "status type",
    timed: "id",
    laterKey: ["id"],
    isLeased: true,
  },
  webhook_attempts: {
    key: ["delivery_id", "id"],
    text: "url response",
    json: "headers",
    fixed: "fault",
    // Attempts of older events were read in the first pass, after their bodies were erased.
    timed: "delivery_id",
  },
  api_requests: {
    key: ["id"],
    text: "path user_agent rejection_detail",
    body: "request_body response_body",
    fixed: "email_ids method rejection_reason",
    timed: "id",
  },
  idempotency_keys: {
    key: ["route", "key"],
    keyType: "text",
    json: "answer",
    fixed: "fingerprint",
    // Without its record, a repeated request would be accepted as a new one.
    keptWhile: "expires_at > now()",
  },
  audit_log: {
    key: ["id"],
    text: "subject_name",
    json: "detail",
    account: "actor_name",
    fixed: "action actor request_id subject_id",
    // The actions on members and invitations name accounts.
    where: "split_part(action, '.', 1) not in ('member', 'invitation')",
    timed: "id",
  },
  queue_pauses: {
    key: ["id"],
    text: "reason",
    account: "actor_name lifted_by_name",
    fixed: "actor domain lifted_by",
  },
  // After the pauses, whose reasons they repeat.
  alerts: { key: ["id"], text: "message", fixed: "kind name subject" },

  // Replaced by a hash at the end (`eraseSuppression`), as is the address of the erasure (`endPass`).
  suppressions: { separate: "address", fixed: "origin", settings: "lists" },
  erasures: {
    separate: "address",
    fixed: "actor address_hash after counts fault place request_id status waiting_ids",
  },

  account_events: { account: "address kind subject user_agent" },
  accounts: { account: "email provider provider_account_id" },
  // Alerts of the installation. They repeat no text of a team.
  alert_calls: { settings: "payload" },
  alert_notices: { fixed: "event" },
  api_keys: { settings: "client_networks limits name", fixed: "scopes secret_hash token_id" },
  backups: { settings: "location name", fixed: "fault status" },
  callback_tokens: { fixed: "body token" },
  destination_hosts: { settings: "destination host" },
  destination_limits: { settings: "domain" },
  // Replies to all email, without addresses.
  destination_states: { fixed: "destination reason source" },
  dkim_keys: { settings: "selector", fixed: "algorithm private_key public_key" },
  // Of the texts of reports, only host names, IP addresses and types of failures are kept.
  domain_report_counts: { fixed: "detail kind reporter source" },
  domain_reports: { fixed: "kind report_hash reporter" },
  // Public DNS records.
  domains: {
    settings:
      "bounce_copies_to checks name reply_copies_to return_path_label tracking_host tracking_subdomain",
    fixed: "ownership_token region status tls",
  },
  erasure_keys: { fixed: "key" },
  installation_secrets: { fixed: "check_value id" },
  invitations: { account: "email", fixed: "mailed_token_hash role token_hash" },
  jobs: { fixed: "fault name" },
  memberships: { fixed: "role" },
  passkey_challenges: { fixed: "challenge purpose" },
  passkeys: { account: "name", fixed: "credential_id public_key transports" },
  reply_rules: { settings: "destination name pattern", fixed: "action class" },
  // Tags contain only letters, digits, hyphens and underscores.
  recipient_counts: { fixed: "domain provider tag unit" },
  recipient_totals: { fixed: "dimension unit value" },
  recovery_codes: { fixed: "code_hash" },
  relays: {
    settings: "callback_topic host name pause_reason url",
    fixed: "added_provider callback_secret last_fault provider",
  },
  restores: { fixed: "release" },
  second_steps: { fixed: "token_hash way" },
  sending_days: { fixed: "domain" },
  sessions: { account: "address user_agent" },
  sign_in_counters: { account: "counter" },
  sign_in_tokens: { fixed: "purpose secret_hash" },
  smtp_url_relays: { settings: "host", fixed: "id last_fault" },
  system_mails: { account: "details last_reply message_id recipient", fixed: "kind status" },
  team_deletions: {
    account: "actor_name canceled_by_name",
    settings: "team_name",
    fixed: "actor counts fault",
  },
  teams: { settings: "bounce_copies_to name reply_copies_to", fixed: "unknown_policy" },
  template_versions: { templates: "html reply_to sender subject text variables" },
  templates: { templates: "alias name" },
  totp_factors: { fixed: "secret" },
  tracking_hosts: { settings: "host" },
  usage_days: { fixed: "domain" },
  users: { account: "email name", fixed: "password_hash" },
  webhooks: {
    settings: "url",
    fixed: "disabled_reason events last_response previous_secret secret status",
  },
  workers: { settings: "host", fixed: "secret_ids transport" },
};
