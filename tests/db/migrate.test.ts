import { afterEach, beforeEach, expect, test } from "vitest";
import { ForeignDatabaseError, migrateDatabase } from "#db/migrate";
import { explainDatabaseFault } from "#server/startup/install/database-faults";
import { createWorld, type World } from "../support/world";

let world: World;
beforeEach(async () => {
  world = await createWorld();
});
afterEach(() => world.close());

test("a database with a foreign first migration is rejected and stays unchanged", async () => {
  await world.hot`
    insert into drizzle.__drizzle_migrations (hash, created_at) values (${"another first migration"}, 1)`;
  const error = await migrateDatabase(world.databaseUrl).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ForeignDatabaseError);
  expect(explainDatabaseFault(error)).toMatch(/use a new database/i);
  expect(await world.hot`select 1 from drizzle.__drizzle_migrations`).toHaveLength(2);
});

test("migrating an up-to-date database changes nothing", async () => {
  await migrateDatabase(world.databaseUrl);
  expect(await world.hot`select 1 from drizzle.__drizzle_migrations`).toHaveLength(1);
});
