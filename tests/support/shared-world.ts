import { afterAll, beforeAll, beforeEach } from "vitest";
import type { HotSql } from "#db/client";
import type { World } from "./world";

/**
 * Opens one world for all tests of a file. Each test finds the rows and the clock of a new world, which costs
 * a tenth of opening one. A change of the schema is the test's to undo.
 */
export function shareWorld(open: () => Promise<World>): void {
  let world: World;
  let restore: () => Promise<void>;
  let isNew = true;
  beforeAll(async () => {
    world = await open();
    restore = await rememberRows(world.hot);
    isNew = true;
  });
  beforeEach(async () => {
    if (isNew) {
      isNew = false;
      return;
    }
    await world.deps.requestLog.flush();
    await restore();
    world.clock.advance(Date.now() - world.clock.now().getTime());
  });
  afterAll(() => world?.close());
}

/** Copies the rows of all tables. The returned function replaces those of the database with the copies. */
async function rememberRows(hot: HotSql): Promise<() => Promise<void>> {
  const tables = await hot<{ name: string; columns: string }[]>`
    select c.table_name as name, string_agg(quote_ident(c.column_name), ',') as columns
    from information_schema.columns c
      join pg_class k on k.relname = c.table_name and k.relnamespace = 'public'::regnamespace
    where c.table_schema = 'public' and k.relkind in ('r', 'p') and not k.relispartition
      and c.is_generated = 'NEVER'
    group by 1`;
  await hot`create schema start`;
  const statements = ["set local session_replication_role = replica"];
  for (const { name, columns } of tables) {
    statements.push(`delete from "${name}"`);
    if ((await hot.unsafe(`select from "${name}" limit 1`)).length === 0) continue;
    await hot.unsafe(`create table start."${name}" as select ${columns} from "${name}"`);
    statements.push(
      `insert into "${name}" (${columns}) overriding system value select ${columns} from start."${name}"`,
    );
  }
  const all = statements.join(";\n");
  return async () => {
    await hot.unsafe(all);
  };
}
