import { setTimeout as wait } from "node:timers/promises";
import { afterEach, expect, test } from "vitest";
import { lapsesMax } from "#server/delivery/queue/recover-expired";
import { forEachTest } from "../support/fixtures";
import { killWorkers, spawnWorker } from "../support/processes/worker-process";
import { type Act, PASS, startSmtpTestServer } from "../support/servers/smtp-test-server";
import { createWorld } from "../support/world";

/** Far less memory than the fields of the large email need as objects, and enough for a worker. */
const heapMb = 56;
const poisonFields = 1_500_000;
/** Longer than a worker survives with the large email, so no dialogue finishes in that time. */
const answerAfterMs = 2_000;
const neighbours = Array.from({ length: 5 }, (_, n) => `r${n}@example.net`);

const poisonous = "poison@example.net";

const world = forEachTest(() => createWorld({ transportKind: "relay" }));
const peer = forEachTest(() =>
  startSmtpTestServer({
    message: async (): Promise<Act> => {
      await wait(answerAfterMs);
      return PASS;
    },
  }),
);
afterEach(killWorkers);

const statusOf = async (address: string): Promise<string | undefined> => {
  const [row] = await world.hot<
    { status: string }[]
  >`select status from deliveries where address = ${address}`;
  return row?.status;
};

/** Unfinished deliveries with their leases. */
const unsettled = () =>
  world.hot`select d.address, q.stage, q.lapses from queue q join deliveries d on d.id = q.id`;

/** Restarts a worker after each crash, like a supervisor, and expires its leases. */
async function superviseUntilSettled(maxMs: number): Promise<void> {
  let crashes = 0;
  const untilMs = performance.now() + maxMs;
  const start = () =>
    spawnWorker({
      databaseUrl: world.databaseUrl,
      smtpUrl: `smtp://127.0.0.1:${peer.port}`,
      nodeArgs: [`--max-old-space-size=${heapMb}`],
    });
  let worker = start();
  while ((await unsettled()).length > 0) {
    if (performance.now() > untilMs)
      throw new Error(`not settled after ${crashes} crashes: ${JSON.stringify(await unsettled())}`);
    if (worker.hasExited()) {
      crashes += 1;
      await world.elapse("61 seconds");
      // Crashes caused by this email alone are simulated, except the last two.
      await world.hot`
        update queue set lapses = ${lapsesMax - 2}
        where lapses = 3 and id in (select id from deliveries where address = ${poisonous})`;
      worker = start();
    }
    await wait(50);
  }
}

test("an email that crashes its worker fails after ten crashes, and no other email is lost", {
  timeout: 300_000,
}, async () => {
  for (const address of neighbours.slice(0, 3)) await world.send({ to: [address] });
  const poison = await world.send({ to: [poisonous] });
  await world.hot`
    update emails
    set headers = ('[' || repeat('{"name":"X-Poison","value":"1"},', ${poisonFields - 1}) || '{"name":"X-Poison","value":"1"}]')::jsonb
    where id = ${poison.id}`;
  for (const address of neighbours.slice(3)) await world.send({ to: [address] });
  await world.hot`update deliveries set due_at = now()`;

  await superviseUntilSettled(280_000);

  expect(await statusOf(poisonous)).toBe("failed");
  expect((await world.email(poison.id)).deliveries[0]?.lastReason).toContain("worker stopped");
  expect(await world.hot`select lapses from deliveries where address = ${poisonous}`).toEqual([
    { lapses: lapsesMax },
  ]);
  for (const address of neighbours) expect(await statusOf(address), address).toBe("sent");
});
