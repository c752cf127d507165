import { afterEach, beforeEach, expect, test } from "vitest";
import { type Database, openDatabase } from "#db/client";
import { claimDeliveries, markHandedOver } from "#server/delivery/queue/claims";
import { recordResults } from "#server/delivery/queue/record-results";
import { claimWebhooks, releaseWebhooks, storePayloads } from "#server/delivery/webhooks/queue";
import { recordWebhookResults } from "#server/delivery/webhooks/record-results";
import type { Ctx } from "#server/deps";
import { AppError } from "#server/platform/errors";
import { newId } from "#server/platform/ids";
import { createWebhook, deleteWebhook } from "#server/services/webhooks/endpoints";
import { replayWebhookRange } from "#server/services/webhooks/events/events";
import { attemptResult } from "../support/attempt-result";
import { forEachTest } from "../support/fixtures";
import { createRandom, type Random } from "../support/random";
import { createWorld } from "../support/world";

const world = forEachTest(() => createWorld());
let workers: Database[];
beforeEach(async () => {
  const name = new URL(world.databaseUrl).pathname.slice(1);
  await world.hot.unsafe(`alter database "${name}" set deadlock_timeout = '20ms'`);
  workers = Array.from({ length: 6 }, () => openDatabase(world.databaseUrl, { connectionsMax: 4 }));
});
afterEach(async () => {
  await Promise.all(workers.map((worker) => worker.close()));
});

const lanesMax = 200;
const width = 20;
const events = ["email.queued", "email.sent", "email.delivered", "email.bounced"] as const;
const url = "http://127.0.0.1:9/hooks";
const add = (ctx: Ctx) => createWebhook(ctx, { url, events: [...events], status: "enabled" });

/**
 * Claims event deliveries, stores their bodies, releases some and records the others, each in random order.
 */
async function call({ hot }: Database, random: Random, ids: readonly string[]): Promise<void> {
  const widths = new Map(ids.map((id) => [id, width]));
  const claims = await claimWebhooks(hot, newId(), { healthy: lanesMax, failing: lanesMax }, widths);
  await storePayloads(hot, random.shuffled(claims.map((claim) => ({ ...claim, payload: "{}" }))));
  const released = claims.filter(() => random.chance(0.2));
  await releaseWebhooks(hot, random.shuffled(released));
  await recordWebhookResults(
    hot,
    random.shuffled(claims.filter((claim) => !released.includes(claim))).map(({ id, leaseToken }) => {
      const isFailure = random.chance(0.5);
      const attempt = {
        id: newId(),
        url,
        headers: {},
        statusCode: isFailure ? 500 : 200,
        response: "",
        fault: null,
        durationMs: 1,
      };
      return {
        id,
        leaseToken,
        status: isFailure ? "pending" : "success",
        retryAfterMs: isFailure ? 0 : null,
        pauseMs: null,
        attempt,
      };
    }),
    (error) => {
      throw error;
    },
  );
}

/** Claims deliveries and records their results, which writes events for every endpoint. */
async function deliver({ hot }: Database, random: Random): Promise<void> {
  const leaseToken = newId();
  const claims = random.shuffled(await claimDeliveries(hot, { limit: 40, leaseToken }));
  await markHandedOver(hot, claims);
  await recordResults(
    hot,
    claims.map((claim) => ({ ...attemptResult(claim, "queued"), retryAfterMs: 0 })),
  );
}

test("deleting endpoints never deadlocks with workers that send and record event deliveries", async () => {
  const { ctx } = world;
  const ids: string[] = [];
  for (let n = 0; n < 10; n++) ids.push((await add(ctx)).id);
  for (let n = 0; n < 20; n++) await world.send({ to: ["ann@example.net", "ben@example.net"] });
  const faults: unknown[] = [];
  const done = { call: 0, deliver: 0, replace: 0, replay: 0 };
  const keep = async (what: keyof typeof done, task: () => Promise<unknown>) => {
    while (Math.min(...Object.values(done)) < 25 && faults.length === 0)
      await task().then(
        () => done[what]++,
        (error) => error instanceof AppError || faults.push({ what, error }),
      );
  };
  const replace = async (database: Database, random: Random) => {
    const at = random.upTo(ids.length) - 1;
    const [id = ""] = ids.splice(at, 1);
    const own = { ...ctx, db: database.db, hot: database.hot };
    ids.push((await add(own)).id);
    await deleteWebhook(own, id);
  };
  const replay = (database: Database, random: Random) =>
    replayWebhookRange(
      { ...ctx, db: database.db, hot: database.hot },
      ids[random.upTo(ids.length) - 1] ?? "",
      {
        since: new Date(0),
        until: null,
        status: random.pick(["success", "failed"]),
        type: null,
      },
    );
  const [callers, senders, [web]] = [workers.slice(0, 3), workers.slice(3, 5), workers.slice(5)];
  if (!web) throw new Error("six processes");
  type Actor = [what: keyof typeof done, act: (random: Random) => Promise<unknown>];
  const actors: Actor[] = [
    ...callers.map((own) => ["call", (random: Random) => call(own, random, ids)] satisfies Actor),
    ...senders.map((own) => ["deliver", (random: Random) => deliver(own, random)] satisfies Actor),
    ["replace", (random) => replace(web, random)],
    ["replace", (random) => replace(web, random)],
    ["replay", (random) => replay(web, random)],
  ];
  await Promise.all(
    actors.map(([what, act], nth) => {
      const random = createRandom(`actor ${nth}`);
      return keep(what, () => act(random));
    }),
  );
  expect(faults).toEqual([]);
});
