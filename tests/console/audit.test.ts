import { parse } from "csv-parse/sync";
import { describe, expect, test } from "vitest";
import { newId } from "#server/platform/ids";
import type { KnownActor } from "#server/services/audit/read";
import { recordAudit } from "#server/services/audit/record";
import { createKey, revokeKey } from "#server/services/keys/keys";
import type { AuditEntryView, CallView } from "#server/trpc/activity/activity";
import { answerChangesFile } from "#server/trpc/activity/files";
import { openConsole } from "../support/console/console";
import { createRoleTeam, type RoleTeam } from "../support/console/role-teams";

const console = await openConsole();
const party = await createRoleTeam(console, "Ours");

type List<Row> = { rows: Row[]; hasMore: boolean };
const changes = (input: object = {}, of = party) =>
  of.data<List<AuditEntryView>>("owner", "activity.changes", input);
/** Entries whose subjects are named by their number. */
const addRetries = (of: RoleTeam, count: number) => console.world.hot`
  insert into audit_log (id, team_id, actor, action, request_id, subject_id, subject_name)
  select id, ${of.teamId}, 'operator', 'email.retried', 'test', uuid_v7(), (n - 1)::text
  from unnest(${Array.from({ length: count }, newId)}::uuid[]) with ordinality as entry (id, n)`;
const as = (userId: string, of = party) => ({ ...of.ctx, actor: { kind: "user", userId } as const });

describe("the audit log", () => {
  test("shows the actor, the action, the target, whether the target still exists, and the request id", async () => {
    const ctx = { ...as(party.userIds.admin), requestId: "request-1" };
    const { key } = await createKey(ctx, { name: "Shop", scopes: ["emails:send"] });
    const [made] = (await changes({ action: "key" })).rows;
    expect(made).toMatchObject({
      actor: "user",
      actorId: party.userIds.admin,
      actorName: expect.stringMatching(/@example\.org$/),
      action: "key.created",
      words: "Created an API key",
      noun: "key",
      subjectId: key.id,
      subjectName: "Shop",
      isPresent: true,
      requestId: "request-1",
      detail: expect.objectContaining({ scopes: ["emails:send"] }),
    });
    await revokeKey(ctx, key.id);
    const rows = (await changes({ action: "key" })).rows.filter(({ subjectId }) => subjectId === key.id);
    expect(rows.map(({ action, isPresent }) => [action, isPresent])).toEqual([
      ["key.revoked", false],
      ["key.created", false],
    ]);
  });

  test("filters by actor, action and time", async () => {
    const fresh = await createRoleTeam(console, "Narrow");
    const { key } = await createKey(fresh.ctx, { name: "Robot", scopes: ["emails:send"] });
    const robot = {
      ...fresh.ctx,
      actor: { kind: "key", keyId: key.id, scopes: [], domains: [], allDomains: false } as const,
    };
    await recordAudit(console.deps.db, robot, {
      action: "template.created",
      subject: { id: newId(), name: "T" },
    });
    await recordAudit(console.deps.db, as(fresh.userIds.member, fresh), { action: "email.retried" });
    const actions = async (filter: object) => (await changes(filter, fresh)).rows.map(({ action }) => action);
    expect(await actions({ actor: key.id })).toEqual(["template.created"]);
    expect(await actions({ actor: fresh.userIds.member })).toEqual(["email.retried"]);
    expect(await actions({ actor: "operator" })).toEqual(["key.created", "team.created"]);
    expect(await actions({ action: "email" })).toEqual(["email.retried"]);
    expect(await actions({ action: "key.created" })).toEqual(["key.created"]);
    expect(await actions({ action: "nothing" })).toEqual([]);
    await console.world.hot`
      update audit_log set id = overlay(id::text placing '01900000-0000' from 1 for 13)::uuid
      where team_id = ${fresh.teamId} and action = 'key.created'`;
    expect(await actions({ within: "90d", actor: "operator" })).toEqual(["team.created"]);
    const known = await fresh.data<KnownActor[]>("admin", "activity.actors");
    expect(known.map(({ id, actor }) => [actor, id]).sort()).toEqual(
      [
        ["key", key.id],
        ["user", fresh.userIds.member],
      ].sort(),
    );
  });

  test("pages from newest to oldest and back, each entry once, while entries are added", async () => {
    const fresh = await createRoleTeam(console, "Many");
    await addRetries(fresh, 60);
    const list = (place: object) => changes({ action: "email", ...place }, fresh);
    const first = await list({});
    await recordAudit(console.deps.db, fresh.ctx, {
      action: "email.retried",
      subject: { id: newId(), name: "60" },
    });
    const second = await list({ after: first.rows.at(-1)?.id });
    const third = await list({ after: second.rows.at(-1)?.id });
    const names = [first, second, third].flatMap(({ rows }) => rows.map(({ subjectName }) => subjectName));
    expect(names).toEqual(Array.from({ length: 60 }, (_, i) => `${59 - i}`));
    expect([first, second, third].map(({ hasMore }) => hasMore)).toEqual([true, true, false]);
    expect((await list({ before: second.rows[0]?.id })).rows).toEqual(first.rows);
  });
});

describe("the request log", () => {
  test("shows status and API key of each request, filters by them, and shows the stored bodies of one request", async () => {
    const fresh = await createRoleTeam(console, "Calls");
    const { key } = await createKey(fresh.ctx, { name: "Shop", scopes: ["emails:send"] });
    const ids = [newId(), newId(), newId()];
    const row = (id: string | undefined, status: number) => console.world.hot`
      insert into api_requests (team_id, id, api_key_id, method, path, status, request_body)
      values (${fresh.teamId}, ${id ?? ""}, ${key.id}, 'POST', '/api/emails', ${status}, '{"to":"ann@example.org"}'::text::jsonb)`;
    await row(ids[0], 200);
    await row(ids[1], 429);
    await row(ids[2], 500);
    const list = async (filter: object) =>
      (await fresh.data<List<CallView>>("member", "activity.requests", filter)).rows.map(
        ({ response_status }) => response_status,
      );
    expect(await list({})).toEqual([500, 429, 200]);
    expect(await list({ status: "refused" })).toEqual([429]);
    expect(await list({ status: "5xx" })).toEqual([500]);
    expect(await list({ method: "GET" })).toEqual([]);
    expect(await list({ key: key.id })).toEqual([500, 429, 200]);
    expect(await list({ key: newId() })).toEqual([]);
    expect(await fresh.data("member", "activity.request", { id: ids[0] })).toMatchObject({
      apiKeyName: "Shop",
      request_body: { to: "ann@example.org" },
      response_body: null,
    });
  });
});

describe("an export", () => {
  const query = (fields: Record<string, string>) => new URLSearchParams(fields);
  const read = async (response: Response) =>
    parse(await response.text(), { columns: true }) as Record<string, string>[];

  test("contains all entries that match the filters, newest first, and no formula", async () => {
    const fresh = await createRoleTeam(console, "Export");
    const hostile = ['=HYPERLINK("http://evil.example")', "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", 'a "b", c'];
    for (const name of hostile)
      await recordAudit(console.deps.db, fresh.ctx, {
        action: "template.created",
        subject: { id: newId(), name },
      });
    await addRetries(fresh, 1_100);
    const owner = await fresh.cookies("owner");
    const response = await answerChangesFile(
      console.deps,
      owner,
      query({ team: fresh.teamId, action: "email" }),
    );
    expect(response.headers.get("content-disposition")).toBe('attachment; filename="changes.csv"');
    const rows = await read(response);
    expect(rows.map(({ subject_name }) => subject_name)).toEqual(
      Array.from({ length: 1_100 }, (_, i) => `${1_099 - i}`),
    );
    const hostileRows = await read(
      await answerChangesFile(console.deps, owner, query({ team: fresh.teamId, action: "template" })),
    );
    expect(hostileRows).toHaveLength(hostile.length);
    for (const row of hostileRows)
      for (const cell of Object.values(row)) expect(cell).not.toMatch(/^[=+\-@\t\r]/);
  });
});
