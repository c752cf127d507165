import { beforeAll, expect, test } from "vitest";
import type { HotSql } from "#db/client";
import type { DeliveryKey } from "#db/schema/deliveries";
import { postponeToNextDay, releaseCapped } from "#server/delivery/throttle/daily-caps";
import { createPauseCheck } from "#server/delivery/throttle/pauses";
import { postponeBacklog, releaseWaiting, setDestination } from "#server/delivery/throttle/postpone-backlog";
import type { Ctx } from "#server/deps";
import { newId } from "#server/platform/ids";
import { silentLog } from "#server/platform/log";
import { purgeQueue } from "#server/services/emails/change/purge";
import { resetDeliveries } from "#server/services/emails/change/reset-deliveries";
import { releaseResumed } from "#server/services/pauses/release";
import { requeueRelayed } from "#server/services/relays/health";
import { settleHeld } from "#server/services/restores/held";
import { recordOutcome } from "#server/services/returns/record";
import { queueMany } from "../support/database/queue-many";
import { countQueueReads } from "../support/database/queue-reads";
import { forAllTests } from "../support/fixtures";
import { createWorld } from "../support/world";

const finished = 4_000;
const many = 10;
const domain = "example.org";
const ALL_HELD = { acceptedAfter: null, acceptedBefore: null, scheduledAfter: null };

const world = forAllTests(() => createWorld());
beforeAll(async () => {
  const { hot, ctx } = world;
  await queueMany(hot, { teamId: ctx.teamId, domain, count: finished });
  await hot`update deliveries set status = 'sent', attempts = 1`;
  await hot`delete from queue`;
  await hot`insert into relays (id, name, url, host) values (${newId()}, 'any', 'sealed', 'relay.example:587')`;
  const today = hot`(now() at time zone 'utc')::date`;
  await hot`insert into sending_days (team_id, domain, day) values (${ctx.teamId}, ${domain}, ${today})`;
  // A statement that finds deliveries by their id alone has to scan the table now.
  await hot.unsafe(`
    alter table deliveries drop constraint deliveries_pkey;
    drop index deliveries_id_idx;
    create index deliveries_key_idx on deliveries (team_id, email_id)`);
  await hot.unsafe("vacuum analyze");
});

type Step = (ctx: Ctx, rows: { keys: DeliveryKey[] }) => Promise<unknown>;

const queued = "status = 'queued', due_at = now() - interval '1 second', attempts = 0";
const waiting = (rule: string, due = "'infinity'") =>
  `status = 'queued', attempts = 0, wait_rule = '${rule}', due_at = ${due}`;
const ofRows: [name: string, state: string, step: Step][] = [
  [
    "a throttled destination",
    queued,
    ({ hot, teamId }) =>
      postponeBacklog(
        hot,
        { teamId, destination: "many.example", domains: new Set(["many.example"]) },
        { waitMs: 1, stepMs: 1, maxMs: 10 },
        many,
      ),
  ],
  [
    "a destination that recovered",
    waiting("destination_throttled", "now() + interval '1 hour'"),
    async ({ hot }, { keys }) => {
      await setDestination(hot, { rows: keys.map(({ id }) => ({ id, destination: "many.example" })) });
      return releaseWaiting(hot, "many.example", many);
    },
  ],
  [
    "a full daily cap",
    queued,
    ({ hot, teamId }) => postponeToNextDay(hot, { teamId, domain }, "daily_cap", many),
  ],
  [
    "a daily cap with capacity",
    waiting("daily_cap", "now() + interval '1 day'"),
    ({ hot }) => releaseCapped(hot, many),
  ],
  [
    "a paused domain",
    queued,
    async ({ hot, teamId }) => {
      await hot`
        insert into queue_pauses (id, team_id, domain, reason, actor)
        values (${newId()}, ${teamId}, ${domain}, 'Test', 'operator')`;
      const pause = await createPauseCheck({ hot, log: silentLog }, many)({ teamId, senderDomain: domain });
      return pause?.backlog?.move();
    },
  ],
  [
    "a resumed domain",
    waiting("domain_paused"),
    async ({ hot }) => {
      await hot`update queue_pauses set lifted_at = now()`;
      return releaseResumed(hot);
    },
  ],
  ["a new relay", waiting("no_transport"), ({ hot }) => requeueRelayed(hot, many)],
  [
    "released email of a restored backup",
    waiting("restored"),
    async (ctx) => (await settleHeld(ctx, { ...ALL_HELD, to: "release" }, null)).settled,
  ],
  [
    "canceled email of a restored backup",
    waiting("restored"),
    async (ctx) => (await settleHeld(ctx, { ...ALL_HELD, to: "cancel" }, null)).settled,
  ],
  [
    "a purge",
    queued,
    async (ctx) =>
      (
        await purgeQueue(ctx, {
          teamId: ctx.teamId,
          domain,
          reason: "Test",
          confirm: domain,
          after: null,
        })
      ).canceled,
  ],
  [
    "a retry",
    "status = 'failed'",
    async (ctx, { keys }) =>
      (
        await resetDeliveries(
          ctx,
          { emailIds: keys.map(({ emailId }) => emailId), states: ["failed"], addresses: null, to: "queued" },
          () => ({ action: "email.retried_many", detail: {} }),
        )
      ).length,
  ],
  [
    "reports",
    "status = 'sent', attempts = 1",
    async (ctx, { keys }) => {
      let recorded = 0;
      for (const delivery of keys) {
        const report = {
          delivery,
          report: newId(),
          reply: null,
          host: null,
          reason: "Test",
          suppresses: null,
        };
        if ((await recordOutcome(ctx, { ...report, effect: "bounced" })) === "recorded") recorded++;
      }
      return recorded;
    },
  ],
];

// A row is fetched a few times: to find, to lock and to change it.
test.each(ofRows)("%s: a delivery is found by its team and its email", async (_, state, step) => {
  const { hot, ctx } = world;
  await hot`update sending_days set held_over = true`;
  await hot`update deliveries set status = 'sent', wait_rule = null, counted_on = null where status <> 'sent' or counted_on is not null`;
  await hot`delete from queue`;
  const keys = await hot.unsafe<DeliveryKey[]>(`
    update deliveries set ${state} where (team_id, email_id, id) in (
      select team_id, email_id, id from deliveries order by team_id, email_id limit ${many})
    returning team_id as "teamId", email_id as "emailId", id`);
  const { scans, fetched, result } = await countQueueReads(hot, (tx) => {
    const begin = (task: (inside: HotSql) => Promise<unknown>) => task(tx);
    return step({ ...ctx, hot: Object.assign(tx, { begin }) as unknown as HotSql }, { keys });
  });
  expect({ result, scans }).toEqual({ result: many, scans: 0 });
  expect(fetched).toBeGreaterThanOrEqual(many);
  expect(fetched).toBeLessThan(10 * many);
});
