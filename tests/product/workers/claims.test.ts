import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { auditClaims, claimedTwice, readClaims } from "../../support/claim-audit";
import { queueMany } from "../../support/database/queue-many";
import { killWorkers, spawnWorker, waitForHeartbeats } from "../../support/processes/worker-process";
import { type MailSink, startMailSink } from "../../support/servers/smtp-test-server";
import { createWorld, type World } from "../../support/world";

const workersCount = 4;
const emailsCount = 800;
const eventually = { timeout: 240_000, interval: 100 };

let world: World;
let sink: MailSink;
beforeEach(async () => {
  world = await createWorld({ transportKind: "relay" });
  sink = await startMailSink();
  await auditClaims(world.hot);
});
afterEach(async () => {
  await killWorkers();
  await sink.close();
  await world.close();
});

/** One recipient each, in batches of 100, so that workers claim between the inserts. */
async function queueEmails(count: number): Promise<void> {
  for (let batch = 0; batch < count / 100; batch++)
    await queueMany(world.hot, {
      teamId: world.id,
      domain: "example.org",
      to: `many${batch}.example`,
      count: 100,
    });
}

test("four worker processes share 800 rows: none is claimed twice per attempt, and each email is sent once", {
  timeout: 300_000,
}, async () => {
  const smtpUrl = `smtp://127.0.0.1:${sink.port}`;
  const workers = Array.from({ length: workersCount }, () =>
    spawnWorker({ databaseUrl: world.databaseUrl, smtpUrl }),
  );
  await waitForHeartbeats(world.hot, workers);

  await queueEmails(emailsCount);
  await vi.waitFor(async () => {
    for (const worker of workers) expect(worker.hasExited(), worker.output()).toBe(false);
    expect(await world.hot`select 1 from deliveries where status <> 'sent'`).toHaveLength(0);
  }, eventually);

  const claims = await readClaims(world.hot);
  expect(claimedTwice(claims)).toEqual([]);
  expect(claims).toHaveLength(emailsCount);
  expect(new Set(claims.map(({ backend }) => backend)).size).toBeGreaterThan(1);
  const recipients = sink.messages.flatMap(({ to }) => to);
  expect(recipients).toHaveLength(emailsCount);
  expect(new Set(recipients).size).toBe(emailsCount);
  for (const worker of workers) worker.signal("SIGTERM");
  expect(await Promise.all(workers.map(({ exited }) => exited))).toEqual(
    workers.map(() => ({ code: 0, signal: null })),
  );
});
