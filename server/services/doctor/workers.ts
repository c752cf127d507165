import { TICK_WORKER_ID } from "#db/schema/deliveries";
import { getBacklog } from "../backlog-alarms";
import { type DoctorDeps, failure, ok, type Result, warning } from "./finding";

/**
 * The limits of readiness: workers send a heartbeat every 5 s, an external scheduler calls every few minutes.
 */
const workerSecondsMax = 30;
const tickSecondsMax = 600;
const overdueSecondsMax = 300;

type Beat = { isTick: boolean; seconds: number };

/** Whether workers, or rounds of an external scheduler (`/api/cron/tick`), process the queue. */
export async function checkWorkers({ hot, db }: Pick<DoctorDeps, "hot" | "db">): Promise<Result[]> {
  const beats = await hot<Beat[]>`
    select id = ${TICK_WORKER_ID} as "isTick", extract(epoch from now() - beat_at)::float8 as seconds
    from workers order by beat_at desc`;
  const { deliverySeconds } = await getBacklog(db);
  const results = [describeWorkers(beats)];
  if (deliverySeconds !== null && deliverySeconds > overdueSecondsMax)
    results.push(
      warning(
        `The oldest due email has waited for ${formatAge(deliverySeconds)}.`,
        "Add workers, or check what those that run are doing in their log.",
      ),
    );
  return [...results, ...(await findFailingJobs(hot))];
}

/** Fewer failures can be those of a database that was away. */
const failuresMin = 3;

async function findFailingJobs(hot: DoctorDeps["hot"]): Promise<Result[]> {
  const jobs = await hot<{ name: string; failures: number; fault: string }[]>`
    select name, failures, fault from jobs where failures >= ${failuresMin} order by name`;
  return jobs.map(({ name, failures, fault }) =>
    warning(
      `The periodic job ${name} has failed ${failures} times in a row: ${fault}.`,
      "Find `job.failed` in the log of the workers.",
    ),
  );
}

function describeWorkers(beats: readonly Beat[]): Result {
  const running = beats.filter(({ isTick, seconds }) => !isTick && seconds <= workerSecondsMax).length;
  const tick = beats.find(({ isTick }) => isTick);
  const [last] = beats;
  if (running > 0) return ok(`${running === 1 ? "One worker runs." : `${running} workers run.`}`);
  if (tick && tick.seconds <= tickSecondsMax)
    return ok(`The scheduler last called /api/cron/tick ${formatAge(tick.seconds)} ago.`);
  const message = last
    ? `No worker runs. The last ${last.isTick ? "call of /api/cron/tick" : "heartbeat"} was ${formatAge(last.seconds)} ago.`
    : "No worker has run yet, so the queue is not processed.";
  return failure(
    message,
    "Start Backstamp or `backstamp worker`, or have a scheduler call /api/cron/tick every minute.",
  );
}

function formatAge(seconds: number): string {
  if (seconds < 120) return `${Math.round(seconds)} s`;
  return seconds < 7_200 ? `${Math.round(seconds / 60)} minutes` : `${Math.round(seconds / 3_600)} hours`;
}
