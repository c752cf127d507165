import { expect, inject, test } from "vitest";
import { openDatabase } from "#db/client";
import { migrateDatabase } from "#db/migrate";
import { analyzeNewPartitions } from "#db/partitions";
import { maintainPartitions } from "#server/delivery/housekeeping/partitions";
import { silentLog } from "#server/platform/log";
import { analyze, fillHotTables, refillHotTables } from "../support/database/fill-hot-tables";
import {
  isInstalled,
  type PlannedPostgres,
  startPlannedPostgres,
} from "../support/database/planned-postgres";
import { startHttpSink } from "../support/servers/http-sink";
import { createWorld } from "../support/world";
import { emailsPerRound, executeHotStatements } from "./hot-calls";

/**
 * A result finds the row of the queue, the delivery and the email by their keys, with an index step in each
 * partition, and writes them to their tables and indexes. A scan of what waits would read more than this.
 */
const buffersMax = emailsPerRound * 60;

test.concurrent.for([15, 18] as const)(
  "PostgreSQL %i reads as little for each hot statement, however many rows there are and whatever the planner knows",
  { timeout: 600_000 },
  async (major, { skip }) => {
    if (!isInstalled(major)) skip("npm ci installs this version of PostgreSQL, but not for this machine.");
    const server = await startPlannedPostgres(major);
    const { round, fill, refill, analyzeNew, close } = await createHotWorld(server);
    const expectFewReads = async (rows: string) => {
      const executed = await server.record(round);
      expect(executed.length, rows).toBeGreaterThan(100);
      expect(
        executed.filter(({ buffers }) => buffers > buffersMax),
        rows,
      ).toEqual([]);
    };
    try {
      await round();
      await fill(10_000);
      await expectFewReads("10,000, planned with empty tables");
      await refill(30);
      await round();
      await fill(10_000);
      await analyzeNew();
      await expectFewReads("10,000, planned with a few, after the first statistics");
      await refill(60);
      await analyze(server.url);
      await round();
      await fill(10_000);
      await expectFewReads("10,000, planned with the statistics of a few");
      await analyze(server.url);
      await expectFewReads("10,000");
      if (inject("isSample")) return;
      await refill(1_000_000);
      await analyze(server.url);
      await expectFewReads("1,000,000");
    } finally {
      await close();
      await server.stop();
    }
  },
);

/** A team with an endpoint and a domain with a daily cap, in an installation without emails. */
async function createHotWorld({ url }: PlannedPostgres) {
  await migrateDatabase(url);
  const database = openDatabase(url);
  await maintainPartitions({ hot: database.hot, log: silentLog }, () => true);
  await database.close();
  const world = await createWorld({ emptyDatabase: url, transportKind: "relay" });
  const { token } = await world.key();
  await world.domain("capped.example");
  await world.hot`update domains set daily_cap = 1000000 where name = 'capped.example'`;
  const sink = await startHttpSink();
  const { body } = await world.api("POST", "/api/webhooks", {
    token,
    body: { endpoint: `http://127.0.0.1:${sink.port}/`, events: ["email.sent", "email.bounced"] },
  });
  const webhookId = String(body.id);
  const rows = (count: number) => ({ teamId: world.id, webhookId, count });
  return {
    round: () => executeHotStatements(world, { token, webhookId }),
    fill: (count: number) => fillHotTables(url, rows(count)),
    refill: (count: number) => refillHotTables(url, rows(count)),
    analyzeNew: () => analyzeNewPartitions(world.hot, () => true),
    close: async () => {
      await world.close();
      await sink.close();
    },
  };
}
