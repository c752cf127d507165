import { afterEach, beforeEach, expect, test } from "vitest";
import { ForeignDatabaseError, migrateDatabase } from "#db/migrate";
import { explainDatabaseFault } from "#server/startup/install/database-faults";
import { type House, openHouse } from "../support/house";

let house: House;
beforeEach(async () => {
  house = await openHouse();
});
afterEach(() => house.close());

test("a database with a foreign first migration is rejected and stays unchanged", async () => {
  await house.hot`
    insert into drizzle.__drizzle_migrations (hash, created_at) values (${"another first migration"}, 1)`;
  const error = await migrateDatabase(house.url).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ForeignDatabaseError);
  expect(explainDatabaseFault(error)).toMatch(/use a new database/i);
  expect(await house.hot`select 1 from drizzle.__drizzle_migrations`).toHaveLength(2);
});

test("migrating an up-to-date database changes nothing", async () => {
  await migrateDatabase(house.url);
  expect(await house.hot`select 1 from drizzle.__drizzle_migrations`).toHaveLength(1);
});
