import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { claimDeliveries } from "#server/delivery/queue/claims";
import { newId } from "#server/platform/ids";
import { auditClaims, readClaims } from "../support/claim-audit";
import { queueMany } from "../support/database/queue-many";
import { killWorkers, spawnWorker, waitForHeartbeats } from "../support/processes/worker-process";
import { type MailSink, startMailSink } from "../support/servers/smtp-test-server";
import { createWorld, type World } from "../support/world";

const workersCount = 8;
const emailsCount = 2_000;
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

/** Each (row, attempt) that was claimed more than once, with the count. */
const claimedTwice = (claims: { deliveryId: string; attempt: number }[]) => {
  const counts = new Map<string, number>();
  for (const { deliveryId, attempt } of claims) {
    const name = `${deliveryId} ${attempt}`;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...counts].filter(([, count]) => count > 1);
};

test("eight worker processes share 2,000 rows: none is claimed twice per attempt, and each email is sent once", {
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

test("concurrent claims get disjoint rows and together all rows", async () => {
  await queueEmails(1_000);
  const claimed: string[] = [];
  const claimAll = async () => {
    for (;;) {
      const claims = await claimDeliveries(world.hot, { limit: 17, leaseToken: newId() });
      claimed.push(...claims.map(({ id }) => id));
      // Rows locked by another connection are skipped, so only an empty table ends the loop.
      if (claims.length === 0) {
        const [left] = await world.hot`select 1 from deliveries where status = 'queued' limit 1`;
        if (!left) return;
      }
    }
  };
  await Promise.all(Array.from({ length: 16 }, claimAll));
  expect(claimed).toHaveLength(1_000);
  expect(new Set(claimed).size).toBe(1_000);
  expect(claimedTwice(await readClaims(world.hot))).toEqual([]);
});
