import { beforeEach, expect, test } from "vitest";
import type { Job } from "#server/delivery/jobs/jobs";
import { startDueJobs } from "#server/delivery/jobs/run-jobs";
import type { WorkerDeps } from "#server/deps";
import { checkWorkers } from "#server/services/doctor/workers";
import { forEachTest } from "../support/fixtures";
import { createWorld } from "../support/world";

const world = forEachTest(() => createWorld());
let deps: WorkerDeps;
beforeEach(async () => {
  deps = world.withTransport(null);
});

/** A job that runs until `end` is called, and the reasons for which its runs were ended. */
function createJob(name = "work") {
  const running: { stop: AbortSignal; end(): void }[] = [];
  const job: Job = {
    name,
    everySeconds: 60,
    feeds: "emails",
    run: (_, stop) => new Promise((resolve) => running.push({ stop, end: () => resolve(3) })),
  };
  return { job, running };
}

const start = (job: Job, onDue = () => {}, stop = new AbortController().signal) =>
  startDueJobs(deps, [job], { stop, onDue });
const end = ({ running }: ReturnType<typeof createJob>) => {
  for (const run of running) run.end();
};

test("of several processes, one runs a job, and again after its interval", async () => {
  const work = createJob();
  const starts = (await Promise.all([1, 2, 3, 4].map(() => start(work.job)))).flat();
  expect(starts).toHaveLength(1);
  expect(work.running).toHaveLength(1);
  end(work);
  await Promise.all(starts);
  expect(await start(work.job)).toEqual([]);
  await world.elapse("61 s");
  expect(await start(work.job)).toHaveLength(1);
  end(work);
});

test("the job of a process that was killed is run by another after its lease, which ends the run of the first", async () => {
  const work = createJob();
  const [first] = await start(work.job);
  await world.elapse("16 s");
  const [second] = await start(work.job);
  expect(work.running).toHaveLength(2);
  const [lost, current] = work.running;
  await expect.poll(() => lost?.stop.aborted, { timeout: 15_000 }).toBe(true);
  expect(current?.stop.aborted).toBe(false);
  lost?.end();
  await first;
  // The end of the lost run must not release the job.
  expect(await start(work.job)).toEqual([]);
  current?.end();
  await second;
  expect(await world.hot`select lease_token from jobs where name = 'work'`).toEqual([{ lease_token: null }]);
});

test("a job that makes rows due wakes its queue, and a job that fails none", async () => {
  const woken: string[] = [];
  const work = createJob();
  const starts = await start(work.job, () => woken.push("work"));
  end(work);
  await Promise.all(starts);
  const failing = { ...work.job, name: "failing", run: () => Promise.reject(new TypeError("a secret text")) };
  await Promise.all(await start(failing, () => woken.push("failing")));
  expect(woken).toEqual(["work"]);
  expect(await world.hot`select name, failures, fault from jobs order by name`).toEqual([
    { name: "failing", failures: 1, fault: "TypeError" },
    { name: "work", failures: 0, fault: null },
  ]);
  await world.hot`update jobs set failures = 3 where name = 'failing'`;
  expect(await checkWorkers(world.deps)).toContainEqual(
    expect.objectContaining({ message: "The periodic job failing has failed 3 times in a row: TypeError." }),
  );
});
