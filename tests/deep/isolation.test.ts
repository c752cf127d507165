import { randomBytes } from "node:crypto";
import { beforeAll, describe, expect, inject, test } from "vitest";
import { newId } from "#server/platform/ids";
import type { Route } from "#server/rest/pipeline/route";
import { routes } from "#server/rest/routes";
import { createRouteCalls, nameOf } from "../rest/route-calls";
import { type Field, fieldsOf, withField } from "../support/database/schema-fields";
import { allIds, newestIds, tablesThatMention } from "../support/database/tenants";
import { type WriteWatch, watchWrites } from "../support/database/write-watch";
import type { CallOptions, Reply } from "../support/rest";
import { openWorld, type TestTeam } from "../support/world";
import { sampleOf, testWhole } from "./sample";

/*
 * Two teams have a row of each kind. One team calls every route with the other's rows: in the path, and in
 * every field of the query and the body that refers to rows. The response must equal that for a missing row,
 * and nothing may change. New routes are tested automatically; if a field may or may not refer to rows, the
 * test fails with a message.
 */

type Holder = { team: TestTeam; token: string; keyId: string };

let writes: WriteWatch;
let ann: Holder;
let ben: Holder;
let newcomerLists: Record<string, string>;
let calls: ReturnType<typeof createRouteCalls>;

const forKeys = routes.filter(({ access }) => typeof access === "object");
const posts = forKeys.filter(({ method }) => method === "POST");
/** Rows of these are enough for a sample. */
const created = posts.filter(({ path }) => !path.includes("{"));
const isWhole = !inject("isSample");
const withoutId = forKeys.filter((route) => route.method === "GET" && !route.path.includes("{"));

const world = await openWorld();
const hold = async (team: TestTeam): Promise<Holder> => {
  const { token, id: keyId } = await team.key();
  return { team, token, keyId };
};
/** A team without rows, created before the others had any. */
const newcomer = await hold(await world.otherTeam("Newcomer"));
beforeAll(async () => {
  if (isWhole) newcomerLists = await readAllLists(newcomer);
  ann = await hold(world);
  ben = await hold(await world.otherTeam("Ben's"));
  calls = createRouteCalls(world, ben.team, ann.token);
  for (const { token } of [ann, ben])
    for (const route of isWhole ? posts : created)
      await world.api(route.method, await calls.pathOf(route, token), { token, ...calls.goodBody(route) });
  writes = await watchWrites(world.hot, []);
});

/** Deletes the log of a team's calls. */
async function deleteCallLog({ team }: Holder): Promise<void> {
  await world.deps.requestLog.flush();
  await world.deps.hot`delete from api_requests where team_id = ${team.id}`;
}

/** The content of all lists of a team, without values that change over time. */
async function readAllLists(by: Holder): Promise<Record<string, string>> {
  const { token } = by;
  await deleteCallLog(by);
  const saw: Record<string, string> = {};
  // The log of calls first, because these calls are logged too.
  const logsFirst = [...withoutId].sort(
    (a, b) => Number(b.path === "/api/logs") - Number(a.path === "/api/logs"),
  );
  for (const route of logsFirst) {
    const { status, text } = await world.api("GET", route.path, { token });
    saw[nameOf(route)] = `${status} ${plain(text, [])}`;
  }
  return saw;
}

/** A response without values that differ per call: the requested ids and generated values. */
function plain(text: string, requested: readonly string[]): string {
  return requested
    .reduce((rest, each) => rest.replaceAll(each, "<requested>"), text)
    .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi, "<id>")
    .replace(/\d{4}-\d\d-\d\d(T[\d:.]+Z)?/g, "<time>")
    .replace(/\d+_<(id|requested)>/g, "<cursor>")
    .replace(/\b(re|whsec)_[\w+/=]+/g, "<token>")
    .replace(/backstamp[a-z0-9]*\._domainkey|[\w+/=]{40,}/g, "<key>")
    .replace(/\bn\d+\b/g, "<name>")
    .replace(/"token_id":"\w+"/g, '"token_id":"<token>"');
}

/** Unused ids directly below and above the id of a row, so lists have the same rows around them. */
function adjacentIdsOf(id: string): string[] {
  const [start, last] = [id.slice(0, -12), BigInt(`0x${id.slice(-12)}`)];
  return [last - 1n, last + 1n].map((each) => start + each.toString(16).padStart(12, "0"));
}

/** Other names of a row that its path accepts. */
const NAMES_IN_PATHS: Record<string, (token: string, path: string) => Promise<string>> = {
  templates: async (token, path) => {
    const alias = `a${randomBytes(8).toString("hex")}`;
    const own = path.split("/").slice(0, 4).join("/");
    expect((await world.api("PATCH", own, { token, body: { alias } })).status).toBe(200);
    return alias;
  },
  suppressions: async (token, path) => String((await world.api("GET", path, { token })).body.email),
};

/** Valid bodies that reach the lookup of a field, for routes whose default body does not. */
const BASES: Record<string, object> = {
  "POST /api/emails template.id": { html: undefined },
  "POST /api/emails/batch 0.template.id": { html: undefined },
  "POST /api/suppressions/batch/remove ids.0": { emails: undefined },
};

/** Rows that are required for a field to have an effect. */
const FILLED: Record<string, (token: string, path: string) => Promise<unknown>> = {
  "POST /api/emails/retry": async () => {
    const { id } = ann.team;
    await world.deps.hot`update deliveries set status = 'failed' where team_id = ${id}`;
    await world.deps.hot`update emails set status = 'failed' where team_id = ${id}`;
  },
  "GET /api/emails/{id}/attachments": (_, path) => world.deps.hot`
    insert into attachments (team_id, id, email_id, position, content_type, size_bytes, content)
    select team_id, ${newId()}, id, 0, 'text/plain', 1, 'x' from emails where id = ${path.split("/")[3] ?? ""}`,
  "GET /api/webhooks/{id}/events": (token, path) =>
    world.api("POST", path.replace(/events$/, "test"), { token }),
  "GET /api/webhooks/{id}/events/{event_id}/attempts": (_, path) => world.deps.hot`
    insert into webhook_attempts (team_id, delivery_id, id, number, url, headers, duration_ms)
    select team_id, id, ${newId()}, 1, 'https://example.com', '{}', 1
    from webhook_deliveries where id = ${path.split("/").at(-2) ?? ""}`,
};

/** Fields named like an id that do not refer to a stored row. */
const NO_ROWS: readonly string[] = ["content_id", "inline_content_id", "topic_id"];

const anyId = "018f0000-0000-7000-8000-000000000001";
const anyTaken = [anyId, `1_${anyId}`];
const takes = ({ schema }: Field, value: unknown) => schema.safeParse(value).success;
const nameIn = ({ path }: Field) => String(path.filter((part) => part !== 0).at(-1));

/** Whether a field seems to refer to rows: it accepts ids but not words, or is named like an id. */
function namesRows(field: Field): boolean {
  if (NO_ROWS.includes(nameIn(field)) || !anyTaken.some((id) => takes(field, id))) return false;
  return !takes(field, "x") || /(^|_)ids?$|Ids?$|^version$|^domains$/.test(nameIn(field));
}

type Place = { field: Field; part: "query" | "body" };

function placesOf(route: Route): Place[] {
  const body = fieldsOf(route.bodyShape ?? route.body).map((field) => ({ field, part: "body" as const }));
  const query = fieldsOf(route.query).map((field) => ({ field, part: "query" as const }));
  return [...body, ...query].filter(({ field }) => namesRows(field));
}

function callWith(route: Route, { field, part }: Place, path: string, value: string): [string, CallOptions] {
  const good = calls.goodBody(route);
  if (part === "query") return [`${path}?${field.path.join()}=${encodeURIComponent(value)}`, good];
  const changed = BASES[`${nameOf(route)} ${field.path.join(".")}`];
  const [first] = field.path;
  const base =
    first === 0 && Array.isArray(good.body)
      ? good.body.map((item) => ({ ...item, ...changed }))
      : { ...(good.body as object), ...changed };
  return [path, { body: withField(base, field.path, value) }];
}

/** Calls with `token`, and returns the response in a form that can be compared with that for another row. */
async function callComparably(
  route: Route,
  token: string,
  path: string,
  options: CallOptions,
  requested: string[],
) {
  if (route.path === "/api/logs" && token === ben.token) await deleteCallLog(ben);
  const headers = { ...options.headers, "x-request-id": "same-for-all" };
  const reply = await world.api(route.method, path, { ...options, token, headers });
  const { "content-type": type, "content-disposition": file } = reply.headers;
  return { reply, comparable: { status: reply.status, type, file, text: plain(reply.text, requested) } };
}

/** Asserts that a response to one team contains no value of the other team except those in the request. */
async function expectNothingOf(
  { team }: Holder,
  replies: { reply: Reply; requested: string[] }[],
): Promise<void> {
  const theirs = await allIds(world.deps.hot, team.id);
  for (const { reply, requested } of replies) {
    const mentioned = `${reply.text} ${JSON.stringify(reply.headers)}`.match(
      /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi,
    );
    const leaked = (mentioned ?? []).filter(
      (id) => theirs.has(id) && !requested.some((each) => each.includes(id)),
    );
    expect(leaked, reply.text.slice(0, 500)).toEqual([]);
  }
}

/**
 * Runs the calls of one team, and asserts that the other's rows do not change and are not referenced by its
 * rows.
 */
async function expectUntouched(of: Holder, by: Holder, requested: string[], run: () => Promise<void>) {
  const { hot, requestLog } = world.deps;
  await requestLog.flush();
  await writes.since();
  await run();
  await requestLog.flush();
  expect(await writes.since(of.team.id)).toEqual([]);
  expect(await tablesThatMention(hot, by.team.id, requested)).toEqual([]);
}

describe.each(
  sampleOf(forKeys.filter(({ path }) => path.includes("{"))).map((route) => [nameOf(route), route] as const),
)("%s", (_, route) => {
  test("responds to another team's row in its path like to a missing row, and does not change it", async () => {
    const [theirs, own] = [await calls.pathOf(route, ann.token), await calls.pathOf(route, ben.token)];
    const variables = route.path.split("/").flatMap((part, at) => (part.startsWith("{") ? [at] : []));
    const [their, mine] = [theirs.split("/"), own.split("/")];
    const alias = await NAMES_IN_PATHS[route.path.split("/")[2] ?? ""]?.(ann.token, theirs);
    // Every combination of the other team's segments with own ones, and the other team's rows under other
    // names.
    const choices = Array.from({ length: 2 ** variables.length - 1 }, (_, bits) =>
      variables.filter((_, at) => (bits + 1) & (1 << at)),
    );
    const requested = [...variables.map((at) => their[at] ?? ""), ...(alias ? [alias] : [])];
    await expectUntouched(ann, ben, requested, async () => {
      const replies: { reply: Reply; requested: string[] }[] = [];
      const callAt = async (at: number[], segmentAt: (at: number) => string) => {
        const path = mine.map((part, index) => (at.includes(index) ? segmentAt(index) : part)).join("/");
        const named = at.map(segmentAt);
        const { reply, comparable } = await callComparably(route, ben.token, path, calls.goodBody(route), [
          ...named,
          ...named.map(decodeURIComponent),
        ]);
        replies.push({ reply, requested: named });
        expect(reply.status, `${path} ${reply.text}`).toBe(404);
        return comparable;
      };
      for (const at of choices) {
        const response = await callAt(at, (index) => their[index] ?? "");
        expect(response).toEqual(await callAt(at, (index) => adjacentIdsOf(their[index] ?? "")[0] ?? ""));
      }
      const [first] = variables;
      if (alias !== undefined && first !== undefined) {
        const missing = alias.includes("@") ? "nobody@example.com" : "no-such-name";
        expect(await callAt([first], () => encodeURIComponent(alias))).toEqual(
          await callAt([first], () => missing),
        );
      }
      await expectNothingOf(ann, replies);
    });
    const kept = await world.api(route.method, theirs, { token: ann.token, ...calls.goodBody(route) });
    expect(kept.status, kept.text).toBe(route.status);
  });
});

const places = forKeys.flatMap((route) => placesOf(route).map((place) => [route, place] as const));

describe.each(
  sampleOf(places).map(
    ([route, place]) =>
      [`${nameOf(route)} ${place.part} ${place.field.path.join(".")}`, route, place] as const,
  ),
)("%s", (name, route, place) => {
  test("treats another team's row like a missing row, and does not change it", async () => {
    const paths = { ann: await calls.pathOf(route, ann.token), ben: await calls.pathOf(route, ben.token) };
    await FILLED[nameOf(route)]?.(ann.token, paths.ann);
    const ids = [...(await newestIds(world.deps.hot, ann.team.id)).values(), ann.keyId];
    const [event] = (await world.api("GET", "/api/email-events?limit=1", { token: ann.token })).body.data as [
      { cursor: string },
    ];
    const values = [...ids, event.cursor].filter((value) => takes(place.field, value));
    const callFor = (value: string, { token }: Holder, path: string) => {
      const [target, options] = callWith(route, place, path, value);
      return callComparably(route, token, target, options, [value]);
    };
    await expectUntouched(ann, ben, ids, async () => {
      const replies: { reply: Reply; requested: string[] }[] = [];
      for (const value of values) {
        const { reply, comparable } = await callFor(value, ben, paths.ben);
        replies.push({ reply, requested: [value] });
        for (const adjacent of adjacentIdsOf(value))
          expect(comparable).toEqual((await callFor(adjacent, ben, paths.ben)).comparable);
      }
      await expectNothingOf(ann, replies);
    });
    // The owner gets another response, so the call does reach the rows.
    const responseFor = async (value: string) => {
      const { reply, comparable } = await callFor(value, ann, paths.ann);
      return JSON.stringify(route.method === "GET" ? (reply.body.data ?? reply.body) : comparable);
    };
    for (const value of values) {
      const own = await responseFor(value);
      for (const adjacent of adjacentIdsOf(value)) if ((await responseFor(adjacent)) !== own) return;
    }
    throw new Error(
      `No row makes a difference in ${name}: add a good call to BASES, or rows to FILLED, or the field to NO_ROWS`,
    );
  });
});

testWhole("a team without rows sees none in any list, count or file", async () => {
  expect(Object.keys(newcomerLists)).toEqual(expect.arrayContaining(withoutId.map(nameOf)));
  expect(await readAllLists(newcomer)).toEqual(newcomerLists);
});

testWhole("no page of a team's list contains a row of the other team", async () => {
  for (const [by, of] of [
    [ben, ann],
    [ann, ben],
  ] as const) {
    const replies: { reply: Reply; requested: string[] }[] = [];
    for (const route of forKeys.filter(({ method }) => method === "GET")) {
      const path = await calls.pathOf(route, by.token);
      replies.push({ reply: await world.api("GET", path, { token: by.token }), requested: [] });
      expect(replies.at(-1)?.reply.status).toBe(route.status);
    }
    await expectNothingOf(of, replies);
  }
});

test("an idempotency key belongs to one team", async () => {
  const headers = { "idempotency-key": "the-same-for-both" };
  for (const route of forKeys.filter(({ idempotent }) => idempotent)) {
    const ids = new Set<unknown>();
    for (const { token } of [ann, ben, ann]) {
      const reply = await world.api(route.method, route.path, { token, ...calls.goodBody(route), headers });
      expect(reply.status).toBe(route.status);
      ids.add(reply.text);
    }
    expect(ids.size).toBe(2);
  }
});
