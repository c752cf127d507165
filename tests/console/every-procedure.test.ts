import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ROLES } from "#db/schema/teams";
import { newId } from "#server/ids";
import { mayDo } from "#server/roles";
import type { Meta } from "#server/trpc/init";
import { appRouter } from "#server/trpc/router";
import { type Console, noCookies, openConsole } from "../support/console";
import { type Heard, openParty, type Party } from "../support/parties";
import { digestTeam } from "../support/tenants";
import type { ProcedureCall, ProcedureCalls } from "./calls/call";
import { createProcedureCalls } from "./procedure-calls";

/*
 * Every procedure of a team is called by every role, and with another team's and nobody's ids in every field that names
 * rows. A procedure joins by standing in the router; without a row in the table of calls it fails here.
 */

type Declared = Record<string, { _def: { meta?: Meta } }>;
const { procedures: declared } = (appRouter as unknown as { _def: { procedures: Declared } })._def;
const procedures = Object.entries(declared).map(([name, { _def }]) => ({ name, ..._def.meta }));
const closed = procedures.filter(({ isOpen }) => !isOpen);
const ofTeams = procedures.flatMap(({ name, right }) => (right === undefined ? [] : [{ name, right }]));

let console: Console;
let ann: Party;
let ben: Party;
let calls: ProcedureCalls;
beforeAll(async () => {
  console = await openConsole();
  ann = await openParty(console, "Ann's");
  ben = await openParty(console, "Ben's");
  calls = createProcedureCalls(console);
});
afterAll(() => console.close());

const callOf = (name: string): ProcedureCall => {
  const call = calls[name];
  if (!call) throw new Error(`Add "${name}" to the calls of its noun in tests/console/calls`);
  return call;
};

test("every row of the table belongs to a procedure", () => {
  expect(Object.keys(calls).filter((name) => !ofTeams.some((each) => each.name === name))).toEqual([]);
});

test("only who was invited may call without a session", () => {
  const open = procedures.filter(({ isOpen }) => isOpen).map(({ name }) => name);
  expect(open).toEqual(["invitations.look", "invitations.accept"]);
});

describe.each(closed)("$name", ({ name }) => {
  test("is refused without a session", async () => {
    const caller = console.callerOf(noCookies) as unknown as Record<string, Record<string, Run>>;
    const [noun = "", verb = ""] = name.split(".");
    await expect(caller[noun]?.[verb]?.({ team: ann.teamId })).rejects.toMatchObject({
      code: "UNAUTHORIZED",
    });
  });
});
type Run = (input: object) => Promise<unknown>;

describe.each(ofTeams)("$name, which asks for $right,", ({ name, right }) => {
  for (const role of ROLES.filter((each) => mayDo(each, right)))
    test(`works for the ${role}`, async () => {
      const heard = await ann.call(role, name, await callOf(name).input(ann));
      expect(heard).toMatchObject({ ok: true });
      await callOf(name).afterwards?.(ann);
    });

  for (const role of ROLES.filter((each) => !mayDo(each, right)))
    test(`is refused to the ${role}, and changes nothing`, async () => {
      const input = await callOf(name).input(ann);
      const before = await digestTeam(console.house.hot, ann.teamId);
      expect(await ann.call(role, name, input)).toMatchObject({ ok: false, code: "FORBIDDEN" });
      expect(await digestTeam(console.house.hot, ann.teamId)).toEqual(before);
    });

  test("finds no team that the caller is not in", async () => {
    const input = await callOf(name).input(ann);
    const before = await digestTeam(console.house.hot, ann.teamId);
    const foreign = await ben.call("owner", name, { ...input, team: ann.teamId });
    expect(foreign).toEqual({ ok: false, code: "NOT_FOUND", message: "Team not found" });
    expect(await ben.call("owner", name, { ...input, team: newId() })).toEqual(foreign);
    expect(await digestTeam(console.house.hot, ann.teamId)).toEqual(before);
  });

  test("answers another team's ids like those that nobody has, and changes nothing of theirs", async () => {
    const { names, input } = callOf(name);
    for (const path of names) {
      const foreignId = String(valueAt(await input(ann), path) ?? newId());
      const missingId = newId();
      const own = await input(ben);
      const before = await digestTeam(console.house.hot, ann.teamId);
      const foreign = await ben.call("owner", name, withValue(own, path, foreignId));
      expect(await digestTeam(console.house.hot, ann.teamId)).toEqual(before);
      const missing = await ben.call("owner", name, withValue(own, path, missingId));
      expect(plain(foreign, foreignId), path).toEqual(plain(missing, missingId));
    }
  });
});

/** What was heard, without the id that was asked for. */
const plain = (heard: Heard, asked: string): string => JSON.stringify(heard).replaceAll(asked, "<asked>");

const valueAt = (input: unknown, path: string): unknown =>
  path.split(".").reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], input);

function withValue<T>(input: T, path: string, value: string): T {
  const copy = structuredClone(input);
  const keys = path.split(".");
  const last = keys.pop() ?? "";
  const at = keys.length === 0 ? copy : valueAt(copy, keys.join("."));
  (at as Record<string, unknown>)[last] = value;
  return copy;
}
