import { expect, test } from "vitest";
import { migrateDatabase } from "#db/migrate";
import { forEachTest } from "../support/fixtures";
import { createWorld } from "../support/world";

const world = forEachTest(() => createWorld());

const positionOf = async (emailId: string): Promise<bigint> => {
  const [row] = await world.hot<{ position: string }[]>`
    select position from email_events where email_id = ${emailId}`;
  return BigInt(row?.position ?? 0);
};

/** The offset of the feed from the cluster's own transaction ids. */
const offset = async (): Promise<bigint> => {
  const [row] = await world.hot<{ offset: string }[]>`select event_offset() as offset`;
  return BigInt(row?.offset ?? 0);
};

// First: what the other test changes is in the schema, which is not restored.
test("a start with the cluster's own database changes nothing", async () => {
  await world.send();
  await migrateDatabase(world.databaseUrl);
  expect(await offset()).toBe(0n);
});

test("a start with a restored dump continues the feed after its events before new events are written", async () => {
  const { id: old } = await world.send();
  await world.hot`update email_events set position = position + 1000000000`;
  await Promise.all([migrateDatabase(world.databaseUrl), migrateDatabase(world.databaseUrl)]);
  const { id: fresh } = await world.send();
  expect(await positionOf(fresh)).toBeGreaterThan(await positionOf(old));
  const after = await offset();
  await migrateDatabase(world.databaseUrl);
  expect(await offset()).toBe(after);
});
