import { describe, expect, test } from "vitest";
import { ROLES } from "#db/schema/teams";
import { newId } from "#server/platform/ids";
import type { ProcedureCall } from "../console/calls/call";
import { OF_TEAMS, PROCEDURES } from "../console/declared";
import { createProcedureCalls } from "../console/procedure-calls";
import { cookiesOf, noCookies, openConsole, PASSWORD } from "../support/console/console";
import { type CallResult, createRoleTeam, isPermitted } from "../support/console/role-teams";
import { watchSecrets } from "../support/console/secrets";
import { watchWrites } from "../support/database/write-watch";
import { sampleOf, testWhole } from "./sample";

/*
 * Every procedure of a team is called by every role, and with ids of other teams and unknown ids in every id
 * field. Every procedure of the router is included; one without an entry in the table of calls fails here.
 */

/** Mutations that change no data, with the reason why they are mutations. */
const CHANGING_NOTHING: Record<string, string> = {
  "templates.preview": "The previewed content can be a megabyte, too long for a URL.",
};

const console = await openConsole();
const secrets = watchSecrets(console);
const ann = await createRoleTeam(console, "Ann's");
const ben = await createRoleTeam(console, "Ben's");
const cid = await createRoleTeam(console, "Cid's");
await secrets.addSecrets(ann);
const calls = createProcedureCalls(console);
const writes = await watchWrites(console.world.hot);

const callOf = (name: string): ProcedureCall => {
  const call = calls[name];
  if (!call) throw new Error(`Add "${name}" to the calls of its noun in tests/console/calls`);
  return call;
};

test("every entry of the table has a procedure", () => {
  expect(Object.keys(calls).filter((name) => !OF_TEAMS.some((each) => each.name === name))).toEqual([]);
});

test("only the procedures for invitees work without a session", () => {
  const open = PROCEDURES.filter(({ isOpen }) => isOpen).map(({ name }) => name);
  expect(open).toEqual(["invitations.read", "invitations.accept"]);
});

describe.each(sampleOf(PROCEDURES.filter(({ isOpen }) => !isOpen)))("$name", ({ name }) => {
  test("rejects requests without a session", async () => {
    const caller = console.callerOf(noCookies) as unknown as Record<string, Record<string, Run>>;
    const [noun = "", verb = ""] = name.split(".");
    await expect(caller[noun]?.[verb]?.({ team: ann.teamId })).rejects.toMatchObject({
      code: "UNAUTHORIZED",
    });
  });
});
type Run = (input?: object) => Promise<unknown>;

describe.each(sampleOf(OF_TEAMS))(
  "$name, which requires $permission,",
  ({ name, permission, isMutation }) => {
    for (const role of ROLES.filter((each) => isPermitted(each, permission)))
      test(`works for the ${role}`, async () => {
        const result = await ann.call(role, name, await callOf(name).input(ann));
        expect(result).toMatchObject({ ok: true });
        secrets.record(name, result);
        await callOf(name).afterwards?.(ann);
      });

    const isChange = isMutation && !(name in CHANGING_NOTHING);
    test(isChange ? "is recorded in the audit log with its change" : "changes nothing", async () => {
      const input = await callOf(name).input(cid);
      await writes.since();
      expect(await cid.call("owner", name, input)).toMatchObject({ ok: true });
      const written = await writes.since(cid.teamId);
      expect(written.includes("insert on audit_log")).toBe(isChange);
      expect(written.some((what) => what !== "insert on audit_log")).toBe(isChange);
      await callOf(name).afterwards?.(cid);
    });

    for (const role of ROLES.filter((each) => !isPermitted(each, permission)))
      test(`is rejected for the ${role}, and changes nothing`, async () => {
        const input = await callOf(name).input(ann);
        await writes.since();
        expect(await ann.call(role, name, input)).toMatchObject({ ok: false, code: "FORBIDDEN" });
        expect(await writes.since(ann.teamId)).toEqual([]);
      });

    test("returns not found for a team that the caller is not a member of", async () => {
      const input = await callOf(name).input(ann);
      await writes.since();
      const foreign = await ben.call("owner", name, { ...input, team: ann.teamId });
      expect(foreign).toEqual({ ok: false, code: "NOT_FOUND", message: "Team not found" });
      expect(await ben.call("owner", name, { ...input, team: newId() })).toEqual(foreign);
      expect(await writes.since(ann.teamId)).toEqual([]);
    });

    test("responds to ids of another team as to unknown ids, and changes nothing of that team", async () => {
      const { names, input } = callOf(name);
      for (const path of names) {
        const foreignId = String(valueAt(await input(ann), path) ?? newId());
        const missingId = newId();
        const own = await input(ben);
        await writes.since();
        const foreign = await ben.call("owner", name, withValue(own, path, foreignId));
        expect(await writes.since(ann.teamId)).toEqual([]);
        const missing = await ben.call("owner", name, withValue(own, path, missingId));
        expect(plain(foreign, foreignId), path).toEqual(plain(missing, missingId));
      }
    });
  },
);

testWhole("no response contains a secret, except once to its creator", async () => {
  const owner = await cookiesOf((await console.session(ann.userIds.owner)).id);
  const caller = console.callerOf(owner) as unknown as Record<string, Record<string, Run>>;
  const started = await caller.account?.startAuthenticator?.({ proof: PASSWORD });
  expect(started).toMatchObject({ secret: expect.any(String) });
  secrets.record("account.startAuthenticator", { ok: true, data: started });
  for (const { name } of PROCEDURES.filter(
    ({ permission, isOpen, isForOperators, isMutation }) =>
      !permission && !isOpen && !isForOperators && !isMutation,
  )) {
    const [noun = "", verb = ""] = name.split(".");
    secrets.record(name, { ok: true, data: await caller[noun]?.[verb]?.() });
  }
  const known = await secrets.known(console.world.hot);
  for (const of of [
    "a password",
    "a relay's password",
    "api_keys.secret_hash",
    "dkim_keys.private_key",
    "invitations.token_hash",
    "keys.create",
    "totp_factors.secret",
    "users.password_hash",
    "webhooks.secret",
  ])
    expect([...known]).toContain(of);
  expect(await secrets.findLeaks(console.world.hot)).toEqual([]);
});

/** The response without the requested id. */
const plain = (result: CallResult, asked: string): string =>
  JSON.stringify(result).replaceAll(asked, "<asked>");

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
