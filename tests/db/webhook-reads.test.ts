import { beforeEach, expect, test } from "vitest";
import { firstIdAt, listPartitions, splitPartition } from "#db/partitions";
import { WEBHOOK_TABLES } from "#server/delivery/housekeeping/partitions";
import {
  claimWebhooks,
  releaseWebhooks,
  storePayloads,
  type WebhookClaim,
} from "#server/delivery/webhooks/queue";
import { recordWebhookResults, type WebhookResult } from "#server/delivery/webhooks/record-results";
import { sweepWebhooks } from "#server/delivery/webhooks/sweep";
import { newId } from "#server/platform/ids";
import { silentLog } from "#server/platform/log";
import { countQueueReads } from "../support/database/queue-reads";
import { forEachTest } from "../support/fixtures";
import { createWorld } from "../support/world";

const world = forEachTest(() => createWorld());
let webhookIds: string[];
beforeEach(async () => {
  webhookIds = Array.from({ length: 20 }, newId);
  await world.hot`
    insert into webhooks (team_id, id, url, events, secret)
    select ${world.ctx.teamId}, id, 'https://example.org', '{email.delivered}', 'sealed' from unnest(${webhookIds}::uuid[]) as id`;
});

const msOfDay = 86_400_000;
const widths = () => new Map(webhookIds.map((id) => [id, 10]));

/** Adds due event deliveries for each endpoint, in the partition of this age. */
async function add(count: number, status: string, days = 0): Promise<void> {
  await world.hot`
    insert into webhook_deliveries (id, team_id, webhook_id, type, payload, status, due_at, lease_token, leased_until)
    select (lpad(to_hex((extract(epoch from now()) * 1000 - ${days * msOfDay})::bigint), 12, '0')
        || substr(replace(gen_random_uuid()::text, '-', ''), 13))::uuid,
      ${world.ctx.teamId}, w, 'email.delivered', '{}', ${status}, now() - interval '1 minute',
      case when ${status} = 'attempting' then gen_random_uuid() end,
      case when ${status} = 'attempting' then now() - interval '1 minute' end
    from generate_series(1, ${count}), unnest(${webhookIds}::uuid[]) as w`;
}

/** Three partitions of the past with ended events, and some of the future. */
async function addPast(): Promise<void> {
  for (const days of [20, 10])
    for (const of of WEBHOOK_TABLES)
      expect(await splitPartition(world.hot, of, firstIdAt(Date.now() - days * msOfDay))).toBeNull();
  expect((await listPartitions(world.hot, "webhook_deliveries")).length).toBeGreaterThan(4);
  for (const days of [25, 15, 5]) await add(60, "success", days);
}

const resultOf = ({ id, leaseToken, url }: WebhookClaim): WebhookResult => ({
  id,
  leaseToken,
  status: "success",
  retryAfterMs: null,
  pauseMs: null,
  attempt: { id: newId(), url, headers: {}, statusCode: 200, response: "", fault: null, durationMs: 1 },
});

/** The statements of a worker on event deliveries that it claims. */
const handle = (claims: number) =>
  countQueueReads(
    world.hot,
    async (hot) => {
      const claimed = await claimWebhooks(hot, newId(), { healthy: claims, failing: 0 }, widths());
      expect(claimed).toHaveLength(claims);
      await storePayloads(
        hot,
        claimed.map((claim) => ({ ...claim, payload: "{}" })),
      );
      await releaseWebhooks(hot, claimed.slice(0, claims / 2));
      await recordWebhookResults(hot, claimed.slice(claims / 2).map(resultOf), (error) => {
        throw error;
      });
    },
    "webhook_deliveries",
  );

test.each(["with", "without"])(
  "claims, results and sweeps read about their own rows in all partitions, %s statistics of the planner",
  async (which) => {
    const { hot } = world;
    await addPast();
    await add(100, "pending");
    if (which === "with") await hot.unsafe("vacuum analyze webhook_deliveries, webhook_attempts");
    // One row is read by its endpoint, the claim, its update, the stored body, and twice with the result.
    const { scans, fetched } = await handle(100);
    expect(scans).toBe(0);
    expect(fetched).toBeGreaterThanOrEqual(500);
    expect(fetched).toBeLessThan(800);
    await add(20, "attempting");
    await add(5, "attempting", 15);
    const swept = await countQueueReads(
      hot,
      (tx) => sweepWebhooks({ hot: tx, log: silentLog }),
      "webhook_deliveries",
    );
    expect(swept).toMatchObject({ scans: 0, result: 500 });
    expect(swept.fetched).toBeLessThan(3 * 500);
    await hot`update webhooks set status = 'disabled' where id = ${webhookIds[0] ?? ""}`;
    await sweepWebhooks({ hot, log: silentLog });
    const [ended] = await hot<{ n: number }[]>`
      select count(*)::int as n from webhook_deliveries where status = 'pending' and webhook_id = ${webhookIds[0] ?? ""}`;
    expect(ended?.n).toBe(0);
  },
);
