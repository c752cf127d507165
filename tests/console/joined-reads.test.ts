import { expect, test } from "vitest";
import { createJoinedReads, type JoinReads } from "#server/services/live/joined-reads";
import { createTrpcContext } from "#server/trpc/context";
import { createCaller } from "#server/trpc/router";
import { FOR_CONCURRENT_CALLS, openConsole } from "../support/console/console";
import { createGate } from "../support/gate";

/* Any number of open pages that read the same at the same time cost the database one or two reads. */

const console = await openConsole(FOR_CONCURRENT_CALLS);

/**
 * The joined reads of a process, with the keys of those that were executed. `afterRead` delays results, and
 * `onCall` receives the number of calls with a key.
 */
function watchReads(
  afterRead: (key: string) => Promise<void> = async () => {},
  onCall: (key: string, calls: number) => void = () => {},
) {
  const join = createJoinedReads(0);
  const executed: string[] = [];
  const calls = new Map<string, number>();
  const joinReads: JoinReads = (key, read) => {
    const result = join(key, async () => {
      executed.push(key);
      const found = await read();
      await afterRead(key);
      return found;
    });
    calls.set(key, (calls.get(key) ?? 0) + 1);
    onCall(key, calls.get(key) ?? 0);
    return result;
  };
  const callerOf = async (userId: string) => {
    const cookies = await console.cookiesOf(userId);
    return createCaller(createTrpcContext({ ...console.deps, joinReads }, cookies));
  };
  return { executed, callerOf };
}

test("many pages that read the overview and the list cost each at most two reads", async () => {
  const pages = 10;
  // The first read of each key waits until all pages have called.
  const complete = new Map<string, ReturnType<typeof createGate>>();
  const allCalled = (key: string) => {
    const known = complete.get(key) ?? createGate();
    complete.set(key, known);
    return known;
  };
  const { executed, callerOf } = watchReads(
    (key) => allCalled(key).passed,
    (key, calls) => calls === pages && allCalled(key).open(),
  );
  const [ann, ben] = [await console.person({ role: "viewer" }), await console.person({ role: "owner" })];
  const callers = await Promise.all(
    Array.from({ length: pages }, (_, index) => callerOf((index % 2 === 0 ? ann : ben).id)),
  );
  await console.world.send();
  const team = { team: console.world.ctx.teamId };
  const answers = await Promise.all(
    callers.map(async ({ overview, emails }) => ({
      traffic: await overview.traffic({ ...team, range: "7d" }),
      tags: await overview.tags({ ...team, range: "7d" }),
      standing: await overview.standing(team),
      parts: await overview.parts(team),
      list: await emails.list(team),
    })),
  );
  expect(answers).toHaveLength(pages);
  for (const { list } of answers) expect(list.rows).toHaveLength(1);
  // What depends on the user is not shared.
  const addresses = answers.map(({ parts }) => parts.setup.ownAddress);
  expect(addresses.slice(0, 2)).toEqual([ann.email, ben.email]);
  for (const path of [
    ...["overview.traffic", "overview.tags", "overview.standing", "overview.parts", "emails.list"],
  ])
    expect(executed.filter((key) => key.startsWith(`["${path}"`)).length, path).toBeLessThanOrEqual(2);
});

test("calls of another team or with another input are not joined", async () => {
  const { executed, callerOf } = watchReads();
  const other = await console.world.otherTeam();
  const own = await callerOf((await console.person({ role: "viewer" })).id);
  const foreign = await callerOf((await console.person({ teamId: other.id, role: "viewer" })).id);
  await console.world.send();
  const team = console.world.ctx.teamId;
  const [all, failed, foreignList] = await Promise.all([
    own.emails.list({ team }),
    own.emails.list({ team, status: "bounced" }),
    foreign.emails.list({ team: other.id }),
  ]);
  expect(all.rows.length).toBeGreaterThan(0);
  expect([failed.rows, foreignList.rows]).toEqual([[], []]);
  expect(new Set(executed).size).toBe(3);
});

test("who may not read a team is rejected while its members read it", async () => {
  const finish = createGate();
  const { executed, callerOf } = watchReads(() => finish.passed);
  const other = await console.world.otherTeam();
  const member = await callerOf((await console.person({ role: "viewer" })).id);
  const stranger = await callerOf((await console.person({ teamId: other.id, role: "owner" })).id);
  const team = { team: console.world.ctx.teamId };
  const running = member.emails.list(team);
  await expect(stranger.emails.list(team)).rejects.toMatchObject({ code: "NOT_FOUND" });
  finish.open();
  await running;
  expect(executed).toHaveLength(1);
});
