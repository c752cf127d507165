import { sql } from "drizzle-orm";
import { check, index, pgTable, primaryKey, uniqueIndex } from "drizzle-orm/pg-core";
import { folded, instant, now } from "../columns";
import { teams } from "./teams";

export const DELIVERY_STATUSES = [
  "scheduled",
  "queued",
  "sending",
  "sent",
  "delivered",
  "bounced",
  "complained",
  "failed",
  "unknown",
  "suppressed",
  "canceled",
] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** The stage of a claimed delivery. `handed_over` is committed before the SMTP dialogue begins. */
export type DeliveryStage = "idle" | "claimed" | "handed_over";

/** What identifies a delivery. */
export type DeliveryKey = { teamId: string; emailId: string; id: string };

/** The rule that delays a queued delivery; null if no rule does. */
export const WAIT_RULES = [
  "retry_schedule",
  "greylisted",
  "transport_fault",
  "lease_expired",
  "unknown_retry",
  "no_transport",
  "released",
  "destination_throttled",
  "relay_paused",
  "daily_cap",
  "warm_up",
  "team_daily_cap",
  "installation_paused",
  "team_paused",
  "team_deletion",
  "domain_paused",
  "restored",
] as const;
export type WaitRule = (typeof WAIT_RULES)[number];

/** The rules of an exhausted daily cap, of the sender's domain or of the team. */
export type CapRule = Extract<WaitRule, "daily_cap" | "warm_up" | "team_daily_cap">;

/**
 * The rules of a pause. While one applies it is shown for every delivery that waits, whatever its row
 * contains.
 */
export type PauseRule = Extract<
  WaitRule,
  "installation_paused" | "team_paused" | "team_deletion" | "domain_paused"
>;

/**
 * One row per recipient: what became of it. Statements find a row by its whole key, never by `id` alone: the
 * id of its email contains the time by which rows are stored.
 *
 * While it waits or is being sent, it also has a row in `queue`. `stage`, `leaseToken`, `leasedUntil`, the
 * status `sending`, and the indexes of what waits are written and read by release 0.2.0 only, which claims
 * deliveries here; a later release drops them.
 */
export const deliveries = pgTable(
  "deliveries",
  (c) => ({
    id: c.uuid().notNull(),
    teamId: c.uuid().notNull(),
    emailId: c.uuid().notNull(),
    /** Order of the email's recipients: to, then cc, then bcc. */
    position: c.smallint().notNull(),
    kind: c.text({ enum: ["to", "cc", "bcc"] }).notNull(),
    address: c.text().notNull(),
    domain: c.text().notNull(),
    status: c.text({ enum: DELIVERY_STATUSES }).notNull(),
    /** Rank of the email's priority. Within a team, 0 is sent before 1, and 1 before 2. */
    priority: c.smallint().notNull().default(1),
    /** Counted when a worker claims the row. */
    attempts: c.integer().notNull().default(0),
    /**
     * Number of claims whose lease expired because the worker died. It limits the retries of an email that
     * crashes workers.
     */
    lapses: c.integer().notNull().default(0),
    /** When the next attempt may begin; `infinity` while no attempt is possible. */
    dueAt: now(),
    waitRule: c.text({ enum: WAIT_RULES }),
    stage: c.text().$type<DeliveryStage>().notNull().default("idle"),
    /** The UTC day whose daily cap this delivery counts against. Only set if a daily cap applies. */
    countedOn: c.date({ mode: "string" }),
    leaseToken: c.uuid(),
    leasedUntil: instant(),
    lastCode: c.integer(),
    lastEnhanced: c.text(),
    lastText: c.text(),
    lastHost: c.text(),
    /** The last outcome as a sentence for users. */
    lastReason: c.text(),
    /** The relay of the last attempt, kept after the relay was removed. Null for `SMTP_URL`. */
    relayId: c.uuid(),
    /** The provider's message id from the relay's 250 reply; null if the reply had none. */
    providerId: c.text(),
    updatedAt: now(),
  }),
  (t) => [
    primaryKey({ columns: [t.teamId, t.emailId, t.id] }),
    /**
     * For return paths, which have room for one id only (`services/returns/find.ts`), and for release 0.2.0.
     */
    index("deliveries_id_idx").on(t.id),
    index("deliveries_recipient_idx").on(t.teamId, folded(t.address), t.emailId),
    // Only release 0.2.0 reads it. A later release drops it.
    index("deliveries_address_idx").on(t.teamId, t.address, t.emailId),
    /** The order of claims: by team, then by priority, then by age. */
    index("deliveries_priority_idx")
      .on(t.teamId, t.priority, t.dueAt, t.id)
      .where(sql`${t.status} in ('queued', 'scheduled') and ${t.lapses} < 3`),
    index("deliveries_held_over_idx")
      .on(t.teamId, t.waitRule, t.dueAt, t.id)
      .where(sql`${t.status} = 'queued' and ${t.waitRule} in ('daily_cap', 'warm_up', 'team_daily_cap')`),
    index("deliveries_parked_idx")
      .on(t.id)
      .where(sql`${t.status} = 'queued' and ${t.waitRule} = 'no_transport' and ${t.dueAt} = 'infinity'`),
    index("deliveries_lease_idx").on(t.leasedUntil).where(sql`${t.status} = 'sending'`),
    /** For provider callbacks, which contain only the provider's id. */
    index("deliveries_provider_idx").on(t.relayId, t.providerId).where(sql`${t.providerId} is not null`),
    index("deliveries_suspect_idx").on(t.dueAt, t.id).where(sql`${t.status} = 'queued' and ${t.lapses} >= 3`),
  ],
);

/**
 * The queue: one row for each delivery that waits or is being sent. One UPDATE claims a row: it sets a lease
 * token and counts the attempt. The holder of the token deletes the row and writes the result into
 * `deliveries`; a trigger (`db/functions/queue.sql`) adds it again if the delivery still waits.
 *
 * The table is small and not partitioned: each claim, hand-over and renewal changes a narrow row and the
 * entries of two small indexes, however many finished deliveries there are.
 */
export const queue = pgTable(
  "queue",
  (c) => ({
    /** The id of the delivery. */
    id: c.uuid().primaryKey(),
    teamId: c.uuid().notNull(),
    emailId: c.uuid().notNull(),
    /** `scheduled` until the first claim. */
    status: c.text().$type<Extract<DeliveryStatus, "queued" | "scheduled">>().notNull(),
    priority: c.smallint().notNull(),
    /**
     * When it may be claimed; `infinity` while no attempt is possible. While it is leased, the end of the
     * lease.
     */
    dueAt: c.timestamp({ withTimezone: true }).notNull(),
    attempts: c.integer().notNull(),
    lapses: c.integer().notNull(),
    stage: c.text().$type<DeliveryStage>().notNull().default("idle"),
    leaseToken: c.uuid(),
    /** The destination that it waits for, while its limits postpone it. */
    destination: c.text(),
  }),
  (t) => [
    /** The order of claims: by team, then by priority, then by age. */
    index("queue_order_idx").on(t.teamId, t.priority, t.dueAt, t.id).where(sql`${t.lapses} < 3`),
    index("queue_lease_idx").on(t.dueAt).where(sql`${t.leaseToken} is not null`),
    index("queue_suspect_idx").on(t.dueAt, t.id).where(sql`${t.lapses} >= 3`),
    /** What waits for a destination, by priority. */
    index("queue_destination_idx")
      .on(t.destination, t.priority, t.dueAt, t.id)
      .where(sql`${t.destination} is not null`),
  ],
);

/**
 * The number of recipients on one day (UTC) where a daily cap applies: by the sender's domain, and with the
 * name "" for the whole team. A worker locks the row while it counts. The row contains the domain's name
 * instead of its id, so that removing and adding a domain does not reset its count.
 */
export const sendingDays = pgTable(
  "sending_days",
  (c) => ({
    teamId: c.uuid().notNull(),
    domain: c.text().notNull(),
    day: c.date({ mode: "string" }).notNull(),
    handedOver: c.integer().notNull().default(0),
    /** Whether deliveries were postponed to the next day and may still be queued. */
    heldOver: c.boolean().notNull().default(false),
  }),
  (t) => [
    primaryKey({ columns: [t.teamId, t.domain, t.day] }),
    index("sending_days_held_over_idx").on(t.day).where(sql`${t.heldOver}`),
  ],
);

/** Who paused or resumed sending: a user of the console, the operator on the command line, or an alert. */
export type PauseActor = "user" | "operator" | "alert";

/**
 * Pauses of sending: of the whole installation if `team_id` is null, of a team, or of one of its sender
 * domains. Email is accepted and stays queued. A lifted pause is kept for 90 days as a record. The row
 * contains the domain's name instead of its id, so that removing the domain does not lift the pause without
 * notice.
 */
export const queuePauses = pgTable(
  "queue_pauses",
  (c) => ({
    id: c.uuid().primaryKey(),
    teamId: c.uuid().references(() => teams.id, { onDelete: "cascade" }),
    domain: c.text(),
    /** Shown with every email that waits. */
    reason: c.text().notNull(),
    actor: c.text().$type<PauseActor>().notNull(),
    /** The user's address at the time of the pause. */
    actorName: c.text(),
    createdAt: now(),
    liftedAt: instant(),
    liftedBy: c.text().$type<PauseActor>(),
    liftedByName: c.text(),
    /**
     * When the deliveries that the pause of a domain postponed were due again. Always set for other lifted
     * pauses.
     */
    releasedAt: instant(),
  }),
  (t) => [
    // At most one pause of a scope at a time.
    uniqueIndex("queue_pauses_active_key")
      .on(sql`coalesce(${t.teamId}, '00000000-0000-0000-0000-000000000000')`, sql`coalesce(${t.domain}, '')`)
      .where(sql`${t.liftedAt} is null`),
    check("queue_pauses_domain_of_team", sql`${t.domain} is null or ${t.teamId} is not null`),
  ],
);

/**
 * The operator's limits for one destination, shared by all teams and workers. They apply to direct delivery
 * to MX hosts, in addition to the throttling that results from the destination's replies.
 */
export const destinationLimits = pgTable(
  "destination_limits",
  (c) => ({
    /** A destination or a recipients' domain: lower case, ASCII form. */
    domain: c.text().primaryKey(),
    /** Maximum concurrent SMTP sessions; null for no limit. */
    connectionsMax: c.integer(),
    /** Maximum emails per minute; null for no limit. */
    perMinute: c.integer(),
    updatedAt: now(),
  }),
  (t) => [
    check("destination_limits_connections", sql`${t.connectionsMax} > 0`),
    check("destination_limits_per_minute", sql`${t.perMinute} > 0`),
    check("destination_limits_limit", sql`num_nonnulls(${t.connectionsMax}, ${t.perMinute}) > 0`),
  ],
);

/** The operator's additions to the known providers: the MX hosts of a domain belong to a destination. */
export const destinationHosts = pgTable("destination_hosts", (c) => ({
  /** The name of an MX host, or a domain above it. */
  host: c.text().primaryKey(),
  destination: c.text().notNull(),
}));

/**
 * What all workers learned from the replies of a destination to email from one of our addresses, with direct
 * delivery. A destination without a row is new to that address.
 */
export const destinationStates = pgTable(
  "destination_states",
  (c) => ({
    /** The address of the sending host, or its name if that has none in DNS. */
    source: c.text().notNull(),
    /** The name of a provider, or the registered domain of the MX hosts. */
    destination: c.text().notNull(),
    /** Concurrent SMTP sessions over all workers. */
    connections: c.integer().notNull(),
    /** SMTP transactions per minute over all workers; null without a limit. */
    perMinute: c.integer(),
    /** Accepted transactions. */
    accepted: c.bigint({ mode: "number" }).notNull().default(0),
    /** Rate-limit replies since the last accepted transaction. Each doubles the time of the next block. */
    objections: c.integer().notNull().default(0),
    /** The latest of these replies, without addresses. */
    reason: c.text(),
    objectedAt: instant(),
    /** No session starts before. */
    blockedUntil: instant(),
    createdAt: now(),
    updatedAt: now(),
  }),
  (t) => [primaryKey({ columns: [t.source, t.destination] })],
);

/**
 * Shared heartbeat row of all delivery rounds started by the cron route, because functions have no
 * long-running process.
 */
export const TICK_WORKER_ID = "00000000-0000-7000-8000-000000000001";

/** The heartbeats of the workers. A row with an old heartbeat belongs to a process that has exited. */
export const workers = pgTable("workers", (c) => ({
  id: c.uuid().primaryKey(),
  host: c.text().notNull(),
  pid: c.integer().notNull(),
  /** `relay`, `capture`, `direct`, or `none`, where email to real recipients stays queued. */
  transport: c.text().notNull(),
  startedAt: now(),
  beatAt: now(),
  /** The ids of the secrets that the worker has. Null for release 0.2.0. */
  secretIds: c.text().array(),
}));

/** Periodic work (`server/delivery/jobs`). Of all processes, the one with the lease runs a job. */
export const jobs = pgTable("jobs", (c) => ({
  name: c.text().primaryKey(),
  /** When it may be claimed: its next run, or the end of the lease of the process that runs it. */
  dueAt: now(),
  /** Null while it does not run. */
  leaseToken: c.uuid(),
  /** Runs that failed since the last one that succeeded, and why the latest did. */
  failures: c.integer().notNull().default(0),
  fault: c.text(),
}));

/**
 * The secrets of the installation, by ids that do not reveal them. The one with the latest `active_from`
 * seals and signs. All of them stay listed, because email is signed with the secret of the time at which it
 * was accepted.
 */
export const installationSecrets = pgTable("installation_secrets", (c) => ({
  id: c.text().primaryKey(),
  /** Derived from the secret. Another secret with this id does not have it. */
  checkValue: c.text().notNull(),
  /** Null until the secret is first activated, and again once it is lost. */
  activeFrom: instant(),
  /**
   * When everything stored was encrypted with this secret. Set without `activeFrom` if the secret is lost.
   */
  resealedAt: instant(),
  createdAt: now(),
}));
