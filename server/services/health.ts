import { and, isNull, sql } from "drizzle-orm";
import { findUnsupportedRelease } from "#db/compatibility";
import { isSchemaMissing } from "#db/faults";
import { withinMs } from "#db/gate";
import { prunesPartitions } from "#db/partitions";
import { queuePauses, TICK_WORKER_ID, workers } from "#db/schema/deliveries";
import { relays, smtpUrlRelays } from "#db/schema/relays";
import { isMigrated } from "#db/schema-version";
import { findMissingLimits } from "#db/time-limits";
import type { Deps } from "#server/deps";
import { parseDomainName } from "#server/mail/address/address";
import { isNearlyFull } from "#server/platform/disk";
import { cli } from "#server/platform/env/cli";
import { createKeptRead } from "#server/platform/kept-read";
import { errorFacts } from "#server/platform/log";
import { SecretRejectedError } from "#server/platform/secrets/keyring";
import { findBacklogAlarms, getBacklog } from "./backlog-alarms";
import { isLastBackupFailed } from "./backups/record";
import type { Alarm, Readiness, SchemaFault } from "./readiness";
import { IS_PROBED, isPausedRelay, isRelayInUse } from "./relays/read";
import { refreshKeyring, UNKNOWN_SECRET } from "./secrets/registry";
import { findLostWorkers, findSurroundingFaults, isWriteRejected } from "./surroundings";

/**
 * Maximum age of a heartbeat: workers send one every few seconds, a scheduled run (`tick`) one every few
 * minutes.
 */
const workerBeatSecondsMax = 30;
const tickBeatSecondsMax = 600;
const checkMsMax = 2_000;

/** The database lacks a migration of this build. */
export const NOT_MIGRATED = `The database is not migrated to this version of Backstamp. Run: ${cli} migrate. On Vercel, redeploy production, which migrates it.`;

const NOT_WRITABLE =
  "The database cannot write: its disk is full, or it is read-only. No email is accepted until it can. For figures, run: backstamp doctor.";

const DATABASE_AWAY = "The database did not respond within 2 s. No email can be accepted until it does.";

/**
 * Whether this process can accept email: the schema is the one of this build, the secrets are those of the
 * database, and it can write. Without a response of the database this is unknown, and the process is not
 * ready. Everything else is an alarm, because the process accepts email all the same, and a load balancer
 * that removes it would only add a second fault.
 */
export async function getReadiness(deps: Deps): Promise<Readiness> {
  const fault = await getSchemaState(deps);
  if (fault === "unknown") return { isReady: false, reason: "database_away", message: DATABASE_AWAY };
  if (fault) return { isReady: false, ...fault };
  try {
    const alarms = await withinMs(checkMsMax, readAlarms(deps));
    if (alarms === null) return { isReady: false, reason: "database_not_writable", message: NOT_WRITABLE };
    return { isReady: true, alarms };
  } catch (error) {
    if (error instanceof SecretRejectedError)
      return { isReady: false, reason: "secret_rejected", message: error.message };
    deps.log.warn("health.alarms_not_read", errorFacts(error));
    return { isReady: true, alarms: [ALARMS_NOT_READ] };
  }
}

/** Calls of the public endpoint within this time share one reading. */
const readinessKeptMs = 1_000;

/**
 * Readiness for callers that are not limited. A process has one reading at a time, which is used for a
 * second, so a flood costs the database nothing.
 */
export const createSharedReadiness = (keptMs = readinessKeptMs) => createKeptRead(getReadiness, keptMs);

/** Null if the database cannot write. */
async function readAlarms(deps: Deps): Promise<Alarm[] | null> {
  const [state, missingLimits, isPruning, disk, secret, surroundings] = await Promise.all([
    readState(deps),
    findMissingLimits(deps.db),
    prunesPartitions(deps.db),
    deps.readDisk?.().catch(() => null),
    refreshKeyring(deps),
    findSurroundingFaults(deps),
  ]);
  const [active, counted, pauses, backlog, hasFailedBackup, isReadOnly, lostWorkers] = state;
  const isFull = disk && isNearlyFull(disk);
  if (isReadOnly || ((isFull || deps.accept.isWriteRejected()) && (await isWriteRejected(deps)))) return null;
  const { shared = 0, paused = 0 } = counted[0] ?? {};
  const hasTransport = shared > 0 || active.some(({ transport }) => transport !== "none");
  const unnamed = deps.names.mailHost === null ? active.filter(hasUnqualifiedName).length : 0;
  return [
    ...(active.length === 0 ? [NO_WORKER] : hasTransport ? [] : [NO_TRANSPORT]),
    ...(pauses > 0 ? [SENDING_PAUSED] : []),
    ...(paused > 0 ? [pausedRelays(paused)] : []),
    ...findBacklogAlarms(backlog).map(({ summary: _, ...alarm }) => alarm),
    ...(isFull ? [DISK_NEARLY_FULL] : []),
    ...surroundings,
    ...(lostWorkers ? [lostWorkers] : []),
    ...(unnamed > 0 ? [unqualifiedName(unnamed)] : []),
    ...(missingLimits.length > 0 ? [noTimeLimits(missingLimits)] : []),
    ...(isPruning ? [PARTITION_PRUNING] : []),
    ...(secret.isKnown ? [] : [SECRET_OUTDATED]),
    ...(deps.hasSharedLimits ? [] : [LIMITS_NOT_SHARED]),
    ...(hasFailedBackup ? [BACKUP_FAILED] : []),
  ];
}

/** Reads in one transaction. Its statements end on the server when the time of their caller is over. */
const readState = (deps: Deps) =>
  deps.db.transaction(async (tx) => {
    await tx.execute(sql.raw(`set local statement_timeout = ${checkMsMax}`));
    const inside = { ...deps, db: tx };
    return Promise.all([
      readActiveWorkers(inside),
      countRelays(inside),
      tx.$count(queuePauses, isWholePause),
      getBacklog(tx),
      isLastBackupFailed(inside),
      isReadOnly(tx),
      findLostWorkers(inside),
    ]);
  });

/** A replica, or a server that its operator made read-only. */
async function isReadOnly(db: Pick<Deps["db"], "execute">): Promise<boolean> {
  const [row] = await db.execute<{ isReadOnly: boolean }>(
    sql`select current_setting('transaction_read_only') = 'on' as "isReadOnly"`,
  );
  return row?.isReadOnly === true;
}

/** Null if the database has every migration of this build and still supports it. */
async function findSchemaFault({ db, hot }: SchemaDeps): Promise<SchemaFault | null> {
  if (!(await isMigrated(db))) return { reason: "database_not_migrated", message: NOT_MIGRATED };
  const unsupported = await findUnsupportedRelease(hot);
  return unsupported && { reason: "release_unsupported", message: unsupported.message };
}

type SchemaDeps = Pick<Deps, "db" | "hot" | "log">;

/** Why this build cannot work with the schema; null if it can, "unknown" if the database does not respond. */
export async function getSchemaState(deps: SchemaDeps): Promise<SchemaFault | "unknown" | null> {
  try {
    return await withinMs(checkMsMax, findSchemaFault(deps));
  } catch (error) {
    deps.log.warn("health.database_away", errorFacts(error));
    return "unknown";
  }
}

/**
 * The fault of the schema because of which a statement failed. Null if it failed for another reason: a fault
 * in our own SQL has the same codes, and must not look like a missing migration.
 */
export async function explainSchemaFault(deps: SchemaDeps, error: unknown): Promise<SchemaFault | null> {
  if (!isSchemaMissing(error)) return null;
  const state = await getSchemaState(deps);
  return state === "unknown" ? null : state;
}

/** SQL: whether the worker's last heartbeat is recent enough. */
export const isActiveWorker = sql`${workers.beatAt} > now() - case when ${workers.id} = ${TICK_WORKER_ID}
  then ${tickBeatSecondsMax}::int else ${workerBeatSecondsMax}::int end * interval '1 second'`;

const readActiveWorkers = ({ db }: Deps) =>
  db.select({ transport: workers.transport, host: workers.host }).from(workers).where(isActiveWorker);

/** Only of the whole installation: a paused team or domain is normal operation for the others. */
const isWholePause = and(isNull(queuePauses.liftedAt), isNull(queuePauses.teamId));

const countRelays = ({ db }: Deps) =>
  db
    .select({
      shared: sql<number>`(count(*) filter (where ${relays.teamId} is null and ${isRelayInUse}))::int`,
      paused: sql<number>`(count(*) filter (where ${isPausedRelay} and ${isRelayInUse}) + (
        select count(*) from ${smtpUrlRelays} where ${sql.raw(IS_PROBED)}))::int`,
    })
    .from(relays);

/**
 * Without `BACKSTAMP_HOSTNAME`, EHLO contains the machine's name. Relays identify us by login; MX hosts do
 * not.
 */
const hasUnqualifiedName = ({ transport, host }: { transport: string; host: string }): boolean =>
  transport === "direct" && !parseDomainName(host).ok;

const alarmOf = (alarm: Alarm["alarm"], message: string, count = 1): Alarm => ({ alarm, count, message });

const NO_WORKER = alarmOf(
  "no_worker",
  "No worker is running, so the queue is not processed. Start one with `backstamp worker`, or call /api/cron/tick on a schedule.",
);

const NO_TRANSPORT = alarmOf(
  "no_transport",
  "Outgoing email is not configured. Set SMTP_URL and restart, or add a relay: backstamp relay add. Only email to the test domain backstamp.test is delivered.",
);

const DISK_NEARLY_FULL = alarmOf(
  "disk_space",
  "The disk of the database is nearly full. When it is full, no email is accepted. Enlarge it, or shorten the retention of email. For figures, run: backstamp doctor.",
);

const ALARMS_NOT_READ = alarmOf(
  "alarms_not_read",
  "The database did not return the alarms within 2 s. It is overloaded, or statements wait for a lock.",
);

const SECRET_OUTDATED = alarmOf("secret_outdated", UNKNOWN_SECRET);

const unqualifiedName = (count: number) =>
  alarmOf(
    "unqualified_name",
    "Email is sent directly to MX hosts, but the EHLO name is not a fully qualified host name, so many servers reject it. Set BACKSTAMP_HOSTNAME to the public name of this server, such as mail.example.com.",
    count,
  );

const SENDING_PAUSED = alarmOf(
  "sending_paused",
  `Sending is paused for the whole installation. Email is accepted and stays queued. For the reason, run: ${cli} queue status.`,
);

/** The health endpoint is public, so the message contains the number of relays but not their names. */
const pausedRelays = (count: number) =>
  alarmOf(
    "relays_paused",
    `${count === 1 ? "One relay is" : `${count} relays are`} paused. Email without another relay waits. For details, run: backstamp relay list.`,
    count,
  );

const noTimeLimits = (missing: string[]) =>
  alarmOf(
    "no_time_limits",
    `Connections through the pooler have no ${missing.join(", ")}, so a stuck statement can block others without end. Set DATABASE_URL_UNPOOLED and run: ${cli} migrate. The pooler applies it to connections that it opens after that.`,
    missing.length,
  );

const PARTITION_PRUNING = alarmOf(
  "partition_pruning",
  `Connections through the pooler have enable_partition_pruning on, and PostgreSQL 18 can crash with it. As the owner of the role, run: alter role … set enable_partition_pruning = off, then let the pooler open its connections again.`,
);

const BACKUP_FAILED = alarmOf(
  "backup_failed",
  `The last scheduled backup failed. For the reason, run: ${cli} backup --list`,
);

/** What to set so that all function instances count rate limits together. */
export const LIMITS_NOT_SHARED = alarmOf(
  "limits_not_shared",
  "Each function instance counts rate limits by itself, so a key can exceed its limit. Set UPSTASH_REDIS_REST_URL and UPSTASH_REDIS_REST_TOKEN.",
);
