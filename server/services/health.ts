import { sql } from "drizzle-orm";
import { withinMs } from "#db/gate";
import { relays } from "#db/schema/relays";
import { TICK_WORKER_ID, workers } from "#db/schema/workers";
import type { Deps } from "#server/deps";
import { errorFacts } from "#server/log";

/** A worker beats every few seconds, a scheduled round once in minutes; older than this it is gone. */
const workerBeatSecondsMax = 30;
const roundBeatSecondsMax = 600;
const answerMsMax = 2_000;

/** Why mail would not go out now, and what the operator can do. */
const UNREADY = {
  database_away: "The database does not answer within 2 s. Nothing can be accepted until it does.",
  no_worker:
    "Nothing drains the queue: no worker has told that it lives. Start one with `posthorn worker`, or call /api/cron/tick on a schedule.",
  no_transport:
    "Mail to real recipients waits because no way out is set up. Set SMTP_URL and start again, or make one: posthorn relay add. Mail to posthorn.test is delivered.",
} as const;

/** What needs the operator though mail is accepted, and is delivered where it can be. */
export const ALARMS = ["relays_paused"] as const;
export type Alarm = { alarm: (typeof ALARMS)[number]; count: number; message: string };

export type Readiness =
  | { isReady: true; alarms: Alarm[] }
  | { isReady: false; reason: Unready; message: string };
export type Unready = keyof typeof UNREADY;

/** Whether what is accepted now would also be delivered: the database answers, and something with a way out drains the queue. */
export async function readReadiness(deps: Deps): Promise<Readiness> {
  const no = (reason: Unready): Readiness => ({ isReady: false, reason, message: UNREADY[reason] });
  let living: { transport: string }[];
  let counted: { everybodys: number; paused: number }[];
  try {
    [living, counted] = await withinMs(answerMsMax, Promise.all([readLiving(deps), countRelays(deps)]));
  } catch (error) {
    deps.log.warn("health.database_away", errorFacts(error));
    return no("database_away");
  }
  if (living.length === 0) return no("no_worker");
  const { everybodys = 0, paused = 0 } = counted[0] ?? {};
  if (living.every(({ transport }) => transport === "none") && everybodys === 0) return no("no_transport");
  return { isReady: true, alarms: paused > 0 ? [pausedRelays(paused)] : [] };
}

const readLiving = ({ db }: Deps) =>
  db
    .select({ transport: workers.transport })
    .from(workers)
    .where(
      sql`${workers.beatAt} > now() - case when ${workers.id} = ${TICK_WORKER_ID} then ${roundBeatSecondsMax}::int
              else ${workerBeatSecondsMax}::int end * interval '1 second'`,
    );

const countRelays = ({ db }: Deps) =>
  db
    .select({
      everybodys: sql<number>`(count(*) filter (where ${relays.teamId} is null))::int`,
      paused: sql<number>`(count(*) filter (where ${relays.pausedUntil} is not null))::int`,
    })
    .from(relays);

/** Whoever asks may be anybody, so it says how many and not which. */
const pausedRelays = (count: number): Alarm => ({
  alarm: "relays_paused",
  count,
  message: `${count === 1 ? "One relay is" : `${count} relays are`} paused after faults, and mail that has no other waits. Which, and why: posthorn relay list.`,
});
