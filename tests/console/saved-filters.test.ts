import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { SAVED_LISTS } from "#server/shared/lists/saved-lists";
import { DAYS, fromSavedFilters, toSavedFilters } from "../../app/console/_ui/list/day-range";
import { changeFilters, requestFilters } from "../../app/console/activity/filters";
import { emailFilters } from "../../app/console/emails/filters";
import { suppressionFilters } from "../../app/console/suppressions/filters";
import { type Console, FOR_CONCURRENT_CALLS, openConsole } from "../support/console/console";
import { createRoleTeam, type RoleTeam } from "../support/console/role-teams";

let console: Console;
let ann: RoleTeam;
let ben: RoleTeam;
let nth = 0;
beforeAll(async () => {
  console = await openConsole(FOR_CONCURRENT_CALLS);
});
afterAll(() => console.close());
beforeEach(async () => {
  ann = await createRoleTeam(console, `Ann's ${++nth}`);
  ben = await createRoleTeam(console, `Ben's ${nth}`);
});

type Role = Parameters<RoleTeam["call"]>[0];
const FAILED = { list: "emails", name: "Failed this week", query: "status=failed,bounced&within=7d" };

async function save(input: Partial<typeof FAILED> = {}, by: Role = "member", party = ann): Promise<string> {
  const result = await party.call(by, "savedFilters.save", { ...FAILED, ...input });
  if (!result.ok) throw new Error(result.message);
  return (result.data as { id: string }).id;
}
async function list(by: Role = "member", party = ann) {
  const result = await party.call(by, "savedFilters.list", {});
  if (!result.ok) throw new Error(result.message);
  return result.data as { id: string; list: string; name: string; filters: object }[];
}
const refused = (code: string, message: string) => ({
  ok: false,
  code,
  message: expect.stringContaining(message),
});

test("a member saves, renames and deletes filters, which the member's other teams and other members do not have", async () => {
  const id = await save();
  const today = await save({ name: "Bounced today", query: "day=today&status=bounced" });
  expect(await list()).toEqual([
    { id: today, list: "emails", name: "Bounced today", filters: { day: "today", status: "bounced" } },
    { id, list: "emails", name: FAILED.name, filters: { status: "failed,bounced", within: "7d" } },
  ]);
  expect(await ann.call("member", "savedFilters.rename", { id, name: "  A failures " })).toMatchObject({
    ok: true,
  });
  expect(await ann.call("member", "savedFilters.delete", { id: today })).toMatchObject({ ok: true });
  expect((await list()).map(({ name }) => name)).toEqual(["A failures"]);
  expect(await list("owner")).toEqual([]);
  expect(await list("member", ben)).toEqual([]);
});

test("another member of the team can neither rename nor delete a filter", async () => {
  const id = await save();
  for (const [procedure, input] of [
    ["savedFilters.rename", { id, name: "Mine" }],
    ["savedFilters.delete", { id }],
  ] as const)
    expect(await ann.call("owner", procedure, input)).toEqual({
      ok: false,
      code: "NOT_FOUND",
      message: "Saved filter not found",
    });
  expect(await list()).toMatchObject([{ id, name: FAILED.name }]);
});

test("names are unique for a member and a list", async () => {
  await save();
  const other = await save({ name: "Other" });
  const taken = refused("CONFLICT", `named "${FAILED.name}"`);
  expect(await ann.call("member", "savedFilters.save", FAILED)).toMatchObject(taken);
  expect(await ann.call("member", "savedFilters.rename", { id: other, name: FAILED.name })).toMatchObject(
    taken,
  );
  await save({ list: "suppressions", query: "origin=bounce" });
  await save({}, "owner");
  expect((await list()).map(({ name }) => name)).toEqual([FAILED.name, FAILED.name, "Other"]);
});

test("concurrent calls never give a member more than twenty filters of a list", async () => {
  for (let n = 0; n < 17; n++) await save({ name: `Filter ${n}` });
  const late = await Promise.all(
    Array.from({ length: 8 }, (_, n) =>
      ann.call("member", "savedFilters.save", { ...FAILED, name: `Late ${n}` }),
    ),
  );
  expect(late.filter(({ ok }) => ok)).toHaveLength(3);
  expect(late.find(({ ok }) => !ok)).toMatchObject(refused("CONFLICT", "20 saved filters"));
  expect(await list()).toHaveLength(20);
  await save({ list: "changes", query: "within=7d" });
});

test.each([
  ["a filter of another list", { list: "suppressions", query: "status=failed" }, "no filter"],
  ["a parameter of the page", { query: "team=1&status=failed" }, "no filter"],
  ["a cursor", { query: "status=failed&after=1" }, "no filter"],
  ["no filter", { query: "status=" }, "No filter is set"],
  ["a long value", { query: `q=${"a".repeat(321)}` }, "320 characters"],
])("rejects %s", async (_, input, message) => {
  const answer = await ann.call("member", "savedFilters.save", { ...FAILED, ...input });
  expect(answer).toMatchObject(refused("UNPROCESSABLE_CONTENT", message));
  expect(await list()).toEqual([]);
});

test("each filter of a list can be saved", () => {
  const PARSERS = {
    emails: emailFilters,
    suppressions: suppressionFilters,
    changes: changeFilters,
    requests: requestFilters,
  };
  const names = Object.fromEntries(
    Object.entries(PARSERS).map(([name, { after: _, before: __, ...filters }]) => [
      name,
      Object.keys(filters),
    ]),
  );
  const { emails, ...others } = SAVED_LISTS;
  expect({ emails: emails.filter((name) => name !== "day"), ...others }).toEqual(names);
});

test("filters are deleted with the membership, the account and the team, and only then", async () => {
  await save();
  await save({}, "viewer");
  await save({}, "admin");
  const kept = await save({}, "member", ben);
  const { hot } = console.world;
  const count = async () => (await hot`select from saved_filters where team_id = ${ann.teamId}`).length;
  await ann.call("owner", "members.remove", { userId: ann.userIds.member });
  expect(await count()).toBe(2);
  await hot`delete from users where id = ${ann.userIds.viewer}`;
  expect(await count()).toBe(1);
  await hot`delete from teams where id = ${ann.teamId}`;
  expect(await count()).toBe(0);
  expect(await list("member", ben)).toMatchObject([{ id: kept }]);
});

test("a range that is today or yesterday is saved as the day, another range with its times", () => {
  // No midnight passes meanwhile.
  vi.useFakeTimers({ toFake: ["Date"], now: new Date("2026-05-04T12:00:00Z") });
  for (const day of DAYS) {
    const range = fromSavedFilters({ status: "failed", day });
    expect(Date.parse(range.since ?? "")).toBeLessThanOrEqual(Date.now());
    expect(range).not.toHaveProperty("day");
    expect(toSavedFilters(range)).toEqual({ status: "failed", day });
  }
  vi.useRealTimers();
  const other = { since: "2026-01-01T00:00:00.000Z", within: "7d" };
  expect(toSavedFilters(other)).toEqual(other);
  expect(fromSavedFilters(other)).toEqual(other);
});
