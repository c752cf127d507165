import { eq } from "drizzle-orm";
import { afterAll, describe, expect, test } from "vitest";
import { users } from "#db/schema/teams";
import { newId } from "#server/platform/ids";
import { revokeOperator } from "#server/services/account/operators";
import { addDomain } from "#server/services/domains/write";
import { addRelay } from "#server/services/relays/write";
import { admitKeyring } from "#server/services/secrets/registry";
import { requestTeamDeletion } from "#server/services/team-deletions/request";
import { createTeam } from "#server/services/teams";
import { openConsole, PASSWORD } from "../support/console/console";
import { createRoleTeam, type RoleTeam } from "../support/console/role-teams";
import { queueMany } from "../support/database/queue-many";
import { watchWrites } from "../support/database/write-watch";
import { refused } from "../support/rejected";
import { EHLO_AUTH, startSmtpTestServer } from "../support/servers/smtp-test-server";
import { PROCEDURES } from "./declared";

/*
 * Every procedure of the installation is called by its operator, and by members of a team, for whom it does
 * not exist.
 */

const OF_OPERATORS = PROCEDURES.filter(({ isForOperators }) => isForOperators);
const password = "pass-never-shown";

let isLoginAccepted = true;
const console = await openConsole();
const ann = await createRoleTeam(console, "Ann's");
const other = await createRoleTeam(console, "Operators");
const { userIds } = other;
const [user] = await console.deps.db
  .update(users)
  .set({ isOperator: true })
  .where(eq(users.id, userIds.viewer))
  .returning({ email: users.email });
const cookies = await console.cookiesOf(userIds.viewer);
const operator: { email: string; call: RoleTeam["call"] } = {
  email: user?.email ?? "",
  call: async (_, name, input) => {
    const caller = console.callerOf(cookies);
    const [noun = "", verb = ""] = name.split(".");
    const run = (caller as unknown as Record<string, Record<string, (given?: object) => Promise<unknown>>>)[
      noun
    ]?.[verb];
    return (
      run?.(Object.keys(input).length === 0 ? undefined : input) ?? Promise.reject(new Error(name))
    ).then(
      (data) => ({ ok: true as const, data }),
      (error) => ({ ok: false as const, code: String(error.code), message: String(error.message) }),
    );
  },
};
const server = await startSmtpTestServer({
  ehlo: EHLO_AUTH,
  auth: () => (isLoginAccepted ? "235 welcome" : "535 5.7.8 no"),
});
await admitKeyring(console.deps);
const writes = await watchWrites(console.world.hot);
afterAll(() => server.close());

let relays = 0;
const url = () => `smtp://user:${password}@127.0.0.1:${server.port}`;
const connection = () => ({
  host: "127.0.0.1",
  port: server.port,
  tls: "opportunistic",
  verify: true,
  user: "user",
  password,
  connectionsMax: 10,
});
const relay = async () =>
  (await addRelay(console.deps, { ...whole, name: `Relay ${++relays}`, url: url() })).id;
const whole = { teamId: null, domainId: null };
const scope = { team: null, domain: null };
const reason = "The relay is being replaced";

/** A valid input of each procedure. */
const INPUTS: Record<string, () => Promise<object>> = {
  "installation.status": async () => ({}),
  "installation.destinations": async () => ({}),
  "installation.replyRules": async () => ({}),
  "alerts.list": async () => ({}),
  "alerts.webhookSecret": async () => ({}),
  "installation.examine": async () => ({}),
  "installation.deletions": async () => ({}),
  "installation.teams": async () => ({ search: "a" }),
  "installation.requestDeletion": async () => {
    const { id } = await createTeam(console.deps, { name: "Gone" });
    return { teamId: id, confirm: "Gone", proof: PASSWORD };
  },
  "installation.cancelDeletion": async () => {
    const { id } = await createTeam(console.deps, { name: "Kept" });
    const ctx = { ...console.deps, teamId: id, actor: { kind: "operator" as const }, requestId: "test" };
    await requestTeamDeletion(ctx, { confirm: "Kept" });
    return { teamId: id };
  },
  "relays.list": async () => ({}),
  "relays.add": async () => ({ name: `Relay ${++relays}`, ...connection(), team: null, domain: null }),
  "relays.connection": async () => ({ id: await relay() }),
  "relays.update": async () => ({
    id: await relay(),
    name: `Relay ${++relays}`,
    position: 3,
    ...connection(),
    password: "",
  }),
  "relays.test": async () => ({ id: await relay() }),
  "relays.pause": async () => ({ id: await relay(), reason }),
  "relays.resume": async () => {
    const id = await relay();
    await console.world.hot`update relays set pause_reason = 'Slow' where id = ${id}`;
    return { id };
  },
  "relays.remove": async () => ({ id: await relay() }),
  "queues.status": async () => ({}),
  "queues.waiting": async () => scope,
  "queues.pause": async () => {
    await console.world.hot`delete from queue_pauses`;
    return { ...scope, reason };
  },
  "queues.resume": async () => {
    await console.world.hot`delete from queue_pauses`;
    await console.world
      .hot`insert into queue_pauses (id, reason, actor) values (${newId()}, 'Slow', 'alert')`;
    return scope;
  },
  "queues.purge": async () => {
    await queueMany(console.world.hot, { teamId: ann.teamId, domain: "example.org", count: 1 });
    return { team: ann.teamId, domain: null, reason, confirm: "Ann's", next: null };
  },
};

test("every procedure of the installation has an input here", () => {
  expect(OF_OPERATORS.map(({ name }) => name).sort()).toEqual(Object.keys(INPUTS).sort());
});

describe.each(OF_OPERATORS)("$name", ({ name, isMutation }) => {
  const input = async () => (await INPUTS[name]?.()) ?? {};

  test("works for an operator, whatever the role in the team", async () => {
    const given = await input();
    await writes.since();
    expect(await operator.call("viewer", name, given)).toMatchObject({ ok: true });
    expect((await writes.since()).length > 0).toBe(isMutation && name !== "installation.examine");
  });

  test("does not exist for other users, whatever the input, and changes nothing", async () => {
    const given = await input();
    await writes.since();
    for (const body of [given, {}, { id: "\0" }])
      expect(await ann.call("owner", name, body)).toEqual({
        ok: false,
        code: "NOT_FOUND",
        message: `No procedure found on path "${name}"`,
      });
    expect(await writes.since()).toEqual([]);
  });
});

test("over HTTP, a hidden procedure responds like a missing one", async () => {
  const cookies = await console.cookiesOf(ann.userIds.owner);
  const answers = await Promise.all(
    ["queues.status", "queues.nothing"].map((name) => console.call(name, { cookies })),
  );
  const [hidden, missing] = answers.map(({ status, text }) => ({
    status,
    text: text.replaceAll(/queues\.\w+/g, "queues.x").replaceAll(/"requestId":"[^"]*"/g, ""),
  }));
  expect(hidden?.status).toBe(404);
  expect(hidden).toEqual(missing);
});

test("a relay for a domain is added by its Unicode name", async () => {
  await addDomain(
    { ...console.deps, teamId: ann.teamId, actor: { kind: "operator" }, requestId: "test" },
    { name: "bücher.example", verified: true },
  );
  const input = { name: "Books", ...connection(), team: "Ann's", domain: "bücher.example" };
  expect(await operator.call("viewer", "relays.add", input)).toMatchObject({
    data: { relay: { name: "Books", domain: "xn--bcher-kva.example" } },
  });
  const { data } = (await operator.call("viewer", "relays.add", { ...input, domain: "not a domain" })) as {
    data?: unknown;
  };
  expect(data).toBeUndefined();
});

describe("a relay of the console", () => {
  type Row = { id: string; state: string; lastFault: string | null; host: string };
  const call = async (name: string, input: object) => {
    const result = await operator.call("viewer", name, input);
    expect(JSON.stringify(result)).not.toContain(password);
    return result as { ok: boolean; message: string; data: { relay: Row; fault: string | null } };
  };
  const listed = async (id: string) => {
    const { data } = (await operator.call("viewer", "relays.list", {})) as { data: { rows: Row[] } };
    return data.rows.find((row) => row.id === id);
  };
  const add = (more: object = {}) =>
    call("relays.add", { name: `Relay ${++relays}`, team: "Ann's", domain: null, ...connection(), ...more });

  test("is tested when it is added and when its connection changes, and is healthy only after that", async () => {
    isLoginAccepted = false;
    const { data } = await add();
    const { id } = data.relay;
    expect(data.fault).toContain("535");
    expect(await listed(id)).toMatchObject({ state: "failing", lastFault: expect.stringContaining("535") });
    isLoginAccepted = true;
    expect(await call("relays.test", { id })).toMatchObject({ data: { fault: null } });
    expect(await listed(id)).toMatchObject({ state: "healthy" });

    isLoginAccepted = false;
    const change = { id, name: "Renamed", position: 7, ...connection(), password: "" };
    expect(await call("relays.update", change)).toMatchObject({
      data: { relay: { name: "Renamed", position: 7, state: "healthy" }, fault: null },
    });
    const changed = await call("relays.update", { ...change, password: "another" });
    expect(changed.data.fault).toContain("535");
    expect(await listed(id)).toMatchObject({ state: "failing" });
    isLoginAccepted = true;
    await call("relays.pause", { id, reason: "On a blocklist" });
    expect(await listed(id)).toMatchObject({ state: "paused", pauseReason: "On a blocklist" });
  });

  test("shows its connection without the password, which is kept only for the same server and user", async () => {
    const special = { user: "a@b/c?d#é", tls: "required", verify: false, connectionsMax: 3 };
    const { data } = await add(special);
    const { id } = data.relay;
    const shown = { host: "127.0.0.1", port: server.port, ...special };
    expect(await call("relays.connection", { id })).toEqual({ ok: true, data: shown });
    const change = { id, name: `Relay ${++relays}`, position: 1, ...shown, password: "" };
    for (const other of [{ host: "smtp.example.com" }, { user: "other" }, { port: 2525 }])
      expect(await call("relays.update", { ...change, ...other })).toMatchObject(refused(/password/i));
    expect((await call("relays.update", { ...change, connectionsMax: 5 })).ok).toBe(true);
    expect(await call("relays.connection", { id })).toMatchObject({ data: { connectionsMax: 5 } });
    const open = { ...change, user: "", tls: "opportunistic", verify: true };
    expect((await call("relays.update", open)).ok).toBe(true);
    expect(await call("relays.connection", { id })).toMatchObject({ data: { user: "" } });
  });

  test.each([
    ["a URL as host", { host: "smtp://127.0.0.1" }, /host/i],
    ["a host with a port", { host: "127.0.0.1:25" }, /host/i],
    ["no password for its user", { password: "" }, /password/i],
    ["a password without a user", { user: "" }, /user/i],
    ["an internal address for a team", { host: "10.0.0.1" }, /public address/],
  ])("is rejected with %s", async (_, fields, message) => {
    expect(await add(fields)).toMatchObject({ ok: false, message: expect.stringMatching(message) });
  });

  test("accepts an IPv6 address with and without brackets, and a name in any form", async () => {
    for (const [host, shown] of [
      ["::1", "[::1]"],
      ["[::1]", "[::1]"],
      ["SMTP.Bücher.example", "smtp.xn--bcher-kva.example"],
    ] as const) {
      const { data } = await add({ host, team: null, port: 9, user: "", password: "" });
      expect(data.relay.host).toBe(`${shown}:9`);
    }
  });
});

test("the status of the queues shows counts, the oldest due delivery, and pauses with who made them", async () => {
  const { hot } = console.world;
  await hot`delete from queue_pauses`;
  await hot`update deliveries set status = 'canceled'`;
  await queueMany(hot, { teamId: ann.teamId, domain: "example.org", count: 3, dueIn: "-2 hours" });
  await queueMany(hot, { teamId: ann.teamId, domain: "example.org", count: 3, dueIn: "1 hour" });
  await hot`
    update queue q set attempts = 1, lease_token = case when n > 1 then q.id end
    from (select id, row_number() over (order by id) as n from queue where team_id = ${ann.teamId} and due_at > now()) as later
    where q.id = later.id`;
  await operator.call("viewer", "queues.pause", { team: "Ann's", domain: null, reason });
  const { data } = (await operator.call("viewer", "queues.status", {})) as {
    data: Record<string, unknown[]>;
  };
  expect(data.states).toMatchObject([
    { id: "queued", count: 3, oldestDueAt: expect.any(String) },
    { id: "sending", count: 2, oldestDueAt: null },
    { id: "deferred", count: 1 },
    { id: "scheduled", count: 0 },
  ]);
  const overview = await ann.call("viewer", "overview.standing", {});
  expect(overview).toMatchObject({
    data: { queue: { counts: { queued: 3, sending: 2, deferred: 1, scheduled: 0, unknown: 0 } } },
  });
  expect(data.pauses).toMatchObject([
    { teamName: "Ann's", actor: "user", actorName: operator.email, reason },
  ]);
  const teams = await operator.call("viewer", "installation.teams", { search: "Ann's" });
  expect(teams).toMatchObject({
    data: { rows: [{ name: "Ann's", members: 4, waiting: 4, pauseReason: reason }], hasMore: false },
  });
});

test("an operator requests the deletion of a team with its name and a password, and it is recorded in the team", async () => {
  const { id: teamId } = await createTeam(console.deps, { name: "Spam" });
  const run = (given: object) =>
    operator.call("viewer", "installation.requestDeletion", {
      teamId,
      confirm: "Spam",
      proof: PASSWORD,
      ...given,
    });
  expect(await run({ proof: "wrong password" })).toMatchObject({ ok: false });
  expect(await run({ confirm: "Other" })).toMatchObject({
    ok: false,
    message: "To confirm, enter the name of the team: Spam",
  });
  expect(await run({ teamId: newId() })).toMatchObject({ code: "NOT_FOUND" });
  const { hot } = console.world;
  expect(await hot`select from team_deletions where team_id = ${teamId}`).toHaveLength(0);
  expect(await run({})).toMatchObject({
    ok: true,
    data: { status: "waiting", requested_by: operator.email },
  });
  const [row] = await hot`
    select deletes_at > now() + interval '6 days 23 hours' as "isLate" from team_deletions where team_id = ${teamId}`;
  expect(row).toEqual({ isLate: true });
  expect(
    await hot`select actor, actor_name, action from audit_log where team_id = ${teamId} and action like 'team.del%'`,
  ).toEqual([{ actor: "user", actor_name: operator.email, action: "team.deletion_requested" }]);
  const teams = await operator.call("viewer", "installation.teams", { search: "Spam" });
  expect(teams).toMatchObject({ data: { rows: [{ name: "Spam", deletesAt: expect.any(String) }] } });
  expect(await operator.call("viewer", "installation.cancelDeletion", { teamId })).toMatchObject({
    ok: true,
    data: { status: "canceled", canceled_by: operator.email },
  });
});

test("an operator who is revoked loses the section with the next call", async () => {
  const { hot } = console.world;
  await hot`update users set is_operator = true where id = ${ann.userIds.owner}`;
  expect(await ann.call("owner", "queues.status", {})).toMatchObject({ code: "BAD_REQUEST" });
  const [owner] = await hot<{ email: string }[]>`select email from users where id = ${ann.userIds.owner}`;
  await revokeOperator(console.deps, owner?.email ?? "");
  expect(await ann.call("owner", "queues.status", {})).toMatchObject({ code: "NOT_FOUND" });
});
