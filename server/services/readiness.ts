/** Problems that need the operator although this process accepts email. */
export const ALARMS = [
  "no_worker",
  "no_transport",
  "sending_paused",
  "relays_paused",
  "delivery_backlog",
  "webhook_backlog",
  "disk_space",
  "name_servers",
  "clock_skew",
  "rate_limit_store",
  "worker_lost",
  "unqualified_name",
  "no_time_limits",
  "partition_pruning",
  "limits_not_shared",
  "secret_outdated",
  "alarms_not_read",
  "backup_failed",
] as const;
export type Alarm = { alarm: (typeof ALARMS)[number]; count: number; message: string };

export type Readiness =
  | { isReady: true; alarms: Alarm[] }
  | { isReady: false; reason: Unready; message: string };
export type Unready = SchemaFault["reason"] | "database_away" | "secret_rejected" | "database_not_writable";

/** Why this build cannot work with the schema. */
export type SchemaFault = { reason: "database_not_migrated" | "release_unsupported"; message: string };
