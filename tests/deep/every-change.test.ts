import { describe, expect, test } from "vitest";
import { OF_TEAMS } from "../console/declared";
import { createProcedureCalls } from "../console/procedure-calls";
import { openConsole } from "../support/console/console";
import { createRoleTeam } from "../support/console/role-teams";
import { watchWrites } from "../support/database/write-watch";
import { sampleOf } from "./sample";

/*
 * Every procedure that changes a team is called while audit entries cannot be written. A change in a separate
 * transaction would remain then, without an audit entry.
 */

const console = await openConsole();
const ann = await createRoleTeam(console, "Ann's");
const calls = createProcedureCalls(console);
const writes = await watchWrites(console.world.hot);
await console.world.hot`
  create function refuse_line() returns trigger language plpgsql as $$ begin raise exception 'no line'; end $$`;

async function withoutLog<T>(work: () => Promise<T>): Promise<T> {
  const { hot } = console.world;
  await hot`create trigger refuse_line before insert on audit_log for each row execute function refuse_line()`;
  try {
    return await work();
  } finally {
    await hot`drop trigger refuse_line on audit_log`;
  }
}

/** Without `templates.preview`, which changes nothing and therefore writes no audit entry. */
const changing = OF_TEAMS.filter(({ name, isMutation }) => isMutation && name !== "templates.preview");

describe.each(sampleOf(changing))("$name", ({ name }) => {
  test("changes nothing if the audit entry cannot be written", async () => {
    const call = calls[name];
    if (!call) throw new Error(`"${name}" has no call`);
    const input = await call.input(ann);
    await writes.since();
    const result = await withoutLog(() => ann.call("owner", name, input));
    expect(result).toMatchObject({ ok: false, code: "INTERNAL_SERVER_ERROR" });
    expect(await writes.since(ann.teamId)).toEqual([]);
  });
});
