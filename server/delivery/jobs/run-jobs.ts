import type { HotSql } from "#db/client";
import type { WorkerDeps } from "#server/deps";
import { newId } from "#server/platform/ids";
import { errorFacts } from "#server/platform/log";
import type { Job } from "./jobs";

/** Renewed while the job runs. The jobs of a process that was killed or frozen are due after it. */
const leaseSeconds = 15;
const renewalsPerLease = 3;

export type JobOptions = {
  /** Ends the jobs. */
  stop: AbortSignal;
  /** Time of a job that cannot be ended. */
  msMax?: number;
  /** Jobs are due whenever their last run was. */
  ignoresInterval?: boolean;
  /** A job has made rows of its queue due. */
  onDue?(queue: NonNullable<Job["feeds"]>): void;
};

/**
 * Starts the jobs that are due and that no other process runs, each with its own lease, and returns their
 * ends. A job that fails stops no other: it is logged, its fault is recorded until a run succeeds, and it is
 * due again after its interval.
 */
export async function startDueJobs(
  deps: WorkerDeps,
  jobs: readonly Job[],
  options: JobOptions,
): Promise<Promise<void>[]> {
  const leaseToken = newId();
  const claimed = await claimJobs(deps.hot, jobs, leaseToken, options);
  return jobs.filter(({ name }) => claimed.has(name)).map((job) => runJob(deps, job, leaseToken, options));
}

/** Claims in one statement. It also records jobs that are new, and changes nothing if none is due. */
async function claimJobs(
  hot: HotSql,
  jobs: readonly Job[],
  leaseToken: string,
  { ignoresInterval = false }: JobOptions,
): Promise<Set<string>> {
  const isDue = hot`(j.due_at <= now() or (${ignoresInterval}::bool and j.lease_token is null))`;
  const claimed = await hot<{ name: string }[]>`
    insert into jobs as j (name, lease_token, due_at)
    select job.name, ${leaseToken}::uuid, now() + ${leaseSeconds} * interval '1 second'
    from unnest(${jobs.map(({ name }) => name)}::text[]) as job(name)
    where not exists (select from jobs j where j.name = job.name and not ${isDue})
    order by job.name
    on conflict (name) do update set lease_token = excluded.lease_token, due_at = excluded.due_at
    where ${isDue}
    returning name`;
  return new Set(claimed.map(({ name }) => name));
}

async function runJob(
  deps: WorkerDeps,
  { name, everySeconds, feeds, run }: Job,
  leaseToken: string,
  { stop, msMax = Number.POSITIVE_INFINITY, onDue }: JobOptions,
): Promise<void> {
  const { hot, log } = deps;
  const warn = (event: string) => (error: unknown) => log.warn(event, { what: name, ...errorFacts(error) });
  const lost = new AbortController();
  const renew = async () => {
    const { count } = await hot`
      update jobs set due_at = now() + ${leaseSeconds} * interval '1 second'
      where name = ${name} and lease_token = ${leaseToken}`;
    if (count === 0) lost.abort();
  };
  const renewal = setInterval(
    () => void renew().catch(warn("job.not_renewed")),
    (leaseSeconds / renewalsPerLease) * 1_000,
  );
  let fault: string | null = null;
  try {
    const due = await run(deps, AbortSignal.any([stop, lost.signal]), msMax);
    if (feeds && typeof due === "number" && due > 0) onDue?.(feeds);
  } catch (error) {
    warn("job.failed")(error);
    fault = faultOf(error);
  }
  clearInterval(renewal);
  await hot`
    update jobs set lease_token = null, due_at = now() + ${everySeconds} * interval '1 second', fault = ${fault},
      failures = case when ${fault}::text is null then 0 else failures + 1 end
    where name = ${name} and lease_token = ${leaseToken}`.catch(warn("job.not_recorded"));
}

/** Without the message of the error, which can contain personal data. */
function faultOf(error: unknown): string {
  const { kind, code } = errorFacts(error);
  return [kind, code].filter((fact) => fact !== undefined).join(" ");
}
