import { afterEach, beforeEach, expect, test } from "vitest";
import { installationSecret } from "../../support/deps";
import { killWorkers, spawnWorker } from "../../support/processes/worker-process";
import { createWebhookWorld, type WebhookWorld } from "../../support/webhook-world";

let world: WebhookWorld;
beforeEach(async () => {
  world = await createWebhookWorld();
});
afterEach(async () => {
  await killWorkers();
  await world.close();
});

test("killing a worker process during its attempts repeats events and loses none", async () => {
  const held: (() => void)[] = [];
  let isReleased = false;
  const sink = await world.sink(async () => {
    if (!isReleased) await new Promise<void>((resolve) => held.push(resolve));
    return 200;
  });
  const { id } = await world.endpoint(sink, ["email.queued", "email.sent", "email.delivered"]);
  for (let n = 0; n < 4; n++) await world.sendByApi();
  const settings = {
    databaseUrl: world.databaseUrl,
    smtpUrl: "capture:",
    env: { BACKSTAMP_SECRET: installationSecret, BACKSTAMP_EGRESS_ALLOW: "127.0.0.0/8" },
  };
  const first = spawnWorker(settings);
  await sink.waitFor(4);
  first.signal("SIGKILL");
  await first.exited;
  expect((await world.eventsOf(id)).filter(({ status }) => status === "success")).toEqual([]);

  isReleased = true;
  for (const release of held) release();
  await world.elapse("61 seconds");
  spawnWorker(settings);
  await expect
    .poll(async () => (await world.eventsOf(id)).map(({ status }) => status), {
      timeout: 50_000,
      interval: 250,
    })
    .toEqual(Array(12).fill("success"));

  const calls = new Map<string, Set<string>>();
  for (const { headers, body } of sink.received) {
    const message = String(headers["svix-id"]);
    calls.set(message, (calls.get(message) ?? new Set()).add(body));
  }
  // Each event arrived, those in progress arrived again, and each repetition had the same body and id.
  expect(calls.size).toBe(12);
  expect(sink.received.length).toBe(12 + 4);
  expect([...calls.values()].every((bodies) => bodies.size === 1)).toBe(true);
});
