import { afterEach, beforeEach, expect, test } from "vitest";
import { migrateDatabase } from "#db/migrate";
import { type House, openHouse } from "../support/house";

let house: House;
beforeEach(async () => {
  house = await openHouse();
});
afterEach(() => house.close());

const positionOf = async (emailId: string): Promise<bigint> => {
  const [row] = await house.hot<{ position: string }[]>`
    select position from email_events where email_id = ${emailId}`;
  return BigInt(row?.position ?? 0);
};

/** The offset of the feed from the cluster's own transaction ids. */
const offset = async (): Promise<bigint> => {
  const [row] = await house.hot<{ offset: string }[]>`select event_offset() as offset`;
  return BigInt(row?.offset ?? 0);
};

test("a start with a restored dump continues the feed after its events before new events are written", async () => {
  const { id: old } = await house.send();
  await house.hot`update email_events set position = position + 1000000000`;
  await Promise.all([migrateDatabase(house.url), migrateDatabase(house.url)]);
  const { id: fresh } = await house.send();
  expect(await positionOf(fresh)).toBeGreaterThan(await positionOf(old));
  const after = await offset();
  await migrateDatabase(house.url);
  expect(await offset()).toBe(after);
});

test("a start with the cluster's own database changes nothing", async () => {
  await house.send();
  await migrateDatabase(house.url);
  expect(await offset()).toBe(0n);
});
