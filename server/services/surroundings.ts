import { sql } from "drizzle-orm";
import { isWriteFault } from "#db/faults";
import { withinMs } from "#db/gate";
import { TICK_WORKER_ID } from "#db/schema/deliveries";
import type { Deps } from "#server/deps";
import type { DnsAnswer } from "#server/mail/dns/dns";
import type { Alarm } from "./readiness";

/** What email depends on outside this process. Alarms of readiness and alerts, which both report these. */
export const SURROUNDINGS = ["name_servers", "clock_skew", "rate_limit_store", "worker_lost"] as const;
export type Surrounding = Alarm & { alarm: (typeof SURROUNDINGS)[number] };

const dnsMsMax = 1_200;
/** Signatures and links of a process whose clock differs by more are rejected elsewhere. */
export const skewSecondsMax = 60;

/** The faults around this process, without reading tables. */
export async function findSurroundingFaults(deps: Deps): Promise<Surrounding[]> {
  const found = await Promise.all([findDeadNameServers(deps), findClockSkew(deps), findLostStore(deps)]);
  return found.filter((fault) => fault !== null);
}

/** Whether a name server gave no answer, or an error instead of one. */
export const isNoAnswer = ({ kind }: Pick<DnsAnswer, "kind">): boolean =>
  kind === "servfail" || kind === "timeout";

/** Only where email is sent to MX hosts: a relay resolves the domains of recipients itself. */
async function findDeadNameServers({ transportKind, resolvers }: Deps): Promise<Surrounding | null> {
  if (transportKind !== "direct") return null;
  const asked = resolvers().map(async (query) => {
    if (isNoAnswer(await query("example.com", "MX"))) throw new Error("no answer");
  });
  const isAlive = await withinMs(dnsMsMax, Promise.any(asked)).then(
    () => true,
    () => false,
  );
  if (isAlive) return null;
  return {
    alarm: "name_servers",
    count: Math.max(1, asked.length),
    message:
      "No name server responds, so email to MX hosts is deferred. Correct BACKSTAMP_DNS_SERVERS, or the name servers of this machine.",
  };
}

/** By how many seconds the clock of the database is ahead of that of this machine. */
export async function measureClockSkew({ hot, machineClock }: Pick<Deps, "hot" | "machineClock">) {
  const beforeMs = machineClock();
  const [row] = await hot<
    { ms: number }[]
  >`select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms`;
  const afterMs = machineClock();
  return {
    seconds: ((row?.ms ?? 0) - (beforeMs + afterMs) / 2) / 1_000,
    uncertainSeconds: (afterMs - beforeMs) / 2_000,
  };
}

async function findClockSkew(deps: Deps): Promise<Surrounding | null> {
  const skew = await measureClockSkew(deps);
  const seconds = Math.round(skew.seconds);
  if (Math.abs(seconds) <= skewSecondsMax) return null;
  return {
    alarm: "clock_skew",
    count: Math.abs(seconds),
    message: `The clock of a machine of Backstamp is ${Math.abs(seconds)} s ${seconds > 0 ? "behind" : "ahead of"} that of the database. Synchronize both by NTP.`,
  };
}

async function findLostStore({ checkLimitStore }: Deps): Promise<Surrounding | null> {
  const fault = await checkLimitStore();
  if (fault === null) return null;
  return {
    alarm: "rate_limit_store",
    count: 1,
    message:
      "Redis does not respond, so each process counts rate limits by itself, and a key can exceed its limit. Start Redis, or correct its URL. For the reason, run: backstamp doctor.",
  };
}

/** Longer than a worker that was started again with another host name needs. */
const workerSecondsMax = 30;

/**
 * A worker that is stopped deletes its heartbeat. One that was killed leaves it, until another worker has
 * started since, or for a day.
 */
export async function findLostWorkers({ db }: Pick<Deps, "db">): Promise<Surrounding | null> {
  const [row] = await db.execute<{ lost: number }>(sql`
    with known as (
      select started_at, beat_at, beat_at > now() - ${workerSecondsMax} * interval '1 second' as "isActive"
      from workers where id <> ${TICK_WORKER_ID})
    select (count(*) filter (where not "isActive") - count(*) filter (where "isActive" and started_at >
        (select min(beat_at) from known where not "isActive")))::int as lost
    from known having bool_or("isActive")`);
  const count = row?.lost ?? 0;
  if (count <= 0) return null;
  return {
    alarm: "worker_lost",
    count,
    message: `${count === 1 ? "A worker has" : `${count} workers have`} ended without being stopped, and no other one was started since. Email and webhook events are delivered more slowly. For the reason, see its log.`,
  };
}

/**
 * Whether the database cannot write: its disk is full, or it is read-only. The rows of a temporary table need
 * space on the disk, and are gone with the transaction.
 */
export async function isWriteRejected({ hot }: Pick<Deps, "hot">): Promise<boolean> {
  try {
    await hot`create temporary table write_probe on commit drop as select generate_series(1, 5000) as n`;
    return false;
  } catch (error) {
    return isWriteFault(error);
  }
}
