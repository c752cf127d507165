import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { newId } from "#server/ids";
import type { Route } from "#server/rest/route";
import { routes } from "#server/rest/routes";
import type { CallOptions, Reply } from "../support/rest";
import { type Field, fieldsOf, withField } from "../support/schema-fields";
import { allIds, digestTeam, newestIds, tablesThatMention } from "../support/tenants";
import { createWorld, type TestTeam, type World } from "../support/world";
import { createRouteCalls, nameOf } from "./route-calls";

/*
 * Two teams with a row of everything. One asks every route for the other's rows: in the path, and in every field of the
 * query and the body that names rows. It must hear what it hears of a row that does not exist, and nothing may change.
 * A route joins by standing in the list; where the suite cannot tell whether a field names rows, it fails and says so.
 */

type Holder = { team: TestTeam; token: string; keyId: string };

let world: World;
let ann: Holder;
let ben: Holder;
/** Has nothing, and had nothing before the others had anything. */
let newcomer: Holder;
let newcomerSaw: Record<string, string>;
let calls: ReturnType<typeof createRouteCalls>;

const forKeys = routes.filter(({ access }) => typeof access === "object");
const withoutId = forKeys.filter((route) => route.method === "GET" && !route.path.includes("{"));

beforeAll(async () => {
  world = await createWorld();
  const hold = async (team: TestTeam): Promise<Holder> => {
    const { token, id: keyId } = await team.key();
    return { team, token, keyId };
  };
  newcomer = await hold(await world.otherTeam("Newcomer"));
  newcomerSaw = await lookAround(newcomer);
  ann = await hold(world);
  ben = await hold(await world.otherTeam("Ben's"));
  calls = createRouteCalls(world, ben.team, ann.token);
  for (const { token } of [ann, ben])
    for (const route of forKeys.filter(({ method }) => method === "POST"))
      await world.api(route.method, await calls.pathOf(route, token), { token, ...calls.goodBody(route) });
});
afterAll(async () => {
  await world.close();
});

/** Leaves nothing on record of what a team asked. */
async function forgetCalls({ team }: Holder): Promise<void> {
  await world.deps.requestLog.flush();
  await world.deps.hot`delete from api_requests where team_id = ${team.id}`;
}

/** What a team sees that asks every list for everything, as far as it would be the same at another time. */
async function lookAround(by: Holder): Promise<Record<string, string>> {
  const { token } = by;
  await forgetCalls(by);
  const saw: Record<string, string> = {};
  // The record of calls first, which these calls themselves fill.
  const logsFirst = [...withoutId].sort(
    (a, b) => Number(b.path === "/api/logs") - Number(a.path === "/api/logs"),
  );
  for (const route of logsFirst) {
    const { status, text } = await world.api("GET", route.path, { token });
    saw[nameOf(route)] = `${status} ${plain(text, [])}`;
  }
  return saw;
}

/** An answer without what differs from call to call: the row that was asked for, and what is made anew each time. */
function plain(text: string, asked: readonly string[]): string {
  return asked
    .reduce((rest, each) => rest.replaceAll(each, "<asked>"), text)
    .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi, "<id>")
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "<time>")
    .replace(/\d+_<(id|asked)>/g, "<cursor>")
    .replace(/\b(re|whsec)_[\w+/=]+/g, "<token>")
    .replace(/posthorn[a-z0-9]*\._domainkey|[\w+/=]{40,}/g, "<key>")
    .replace(/\bn\d+\b/g, "<name>")
    .replace(/"token_id":"\w+"/g, '"token_id":"<token>"');
}

/** Ids that no row has, right below and right above one that a row has, so that lists have the same rows around them. */
function twinsOf(id: string): string[] {
  const [start, last] = [id.slice(0, -12), BigInt(`0x${id.slice(-12)}`)];
  return [last - 1n, last + 1n].map((each) => start + each.toString(16).padStart(12, "0"));
}

/** What a row is called beside its id, where a path takes that too. */
const NAMES_IN_PATHS: Record<string, (token: string, path: string) => Promise<string>> = {
  templates: async (token, path) => {
    const alias = `a${randomBytes(8).toString("hex")}`;
    const own = path.split("/").slice(0, 4).join("/");
    expect((await world.api("PATCH", own, { token, body: { alias } })).status).toBe(200);
    return alias;
  },
  suppressions: async (token, path) => String((await world.api("GET", path, { token })).body.email),
};

/** A good call that reaches the look-up of what a field names, where the good body of the route does not. */
const BASES: Record<string, object> = {
  "POST /api/emails template.id": { html: undefined },
  "POST /api/emails/batch 0.template.id": { html: undefined },
  "POST /api/suppressions/batch/remove ids.0": { emails: undefined },
};

/** Rows without which a field makes no difference. */
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

/** Fields with the name of an id that name no row of ours. */
const NO_ROWS: readonly string[] = ["content_id", "inline_content_id", "topic_id"];

const anyId = "018f0000-0000-7000-8000-000000000001";
const anyTaken = [anyId, `1_${anyId}`];
const takes = ({ schema }: Field, value: unknown) => schema.safeParse(value).success;
const nameIn = ({ path }: Field) => String(path.filter((part) => part !== 0).at(-1));

/** Whether a field looks as if it named rows: takes ids and no words, or is called so. */
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

/** Asks as `token`, and gives back what can be compared with the answer to the same question about another row. */
async function ask(route: Route, token: string, path: string, options: CallOptions, asked: string[]) {
  if (route.path === "/api/logs" && token === ben.token) await forgetCalls(ben);
  const headers = { ...options.headers, "x-request-id": "same-for-all" };
  const reply = await world.api(route.method, path, { ...options, token, headers });
  const { "content-type": type, "content-disposition": file } = reply.headers;
  return { reply, shown: { status: reply.status, type, file, text: plain(reply.text, asked) } };
}

/** That nothing in an answer to one team is the other's, but what the question itself named. */
async function expectNothingOf(
  { team }: Holder,
  replies: { reply: Reply; asked: string[] }[],
): Promise<void> {
  const theirs = await allIds(world.deps.hot, team.id);
  for (const { reply, asked } of replies) {
    const told = `${reply.text} ${JSON.stringify(reply.headers)}`.match(
      /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi,
    );
    const leaked = (told ?? []).filter((id) => theirs.has(id) && !asked.some((each) => each.includes(id)));
    expect(leaked, reply.text.slice(0, 500)).toEqual([]);
  }
}

/** Runs what one team asks and holds that the other's rows are as they were, and that nothing of hers points at them. */
async function expectUntouched(of: Holder, by: Holder, asked: string[], run: () => Promise<void>) {
  const { hot, requestLog } = world.deps;
  await requestLog.flush();
  const before = await digestTeam(hot, of.team.id);
  await run();
  await requestLog.flush();
  expect(await digestTeam(hot, of.team.id)).toEqual(before);
  expect(await tablesThatMention(hot, by.team.id, asked)).toEqual([]);
}

describe.each(
  forKeys.filter(({ path }) => path.includes("{")).map((route) => [nameOf(route), route] as const),
)("%s", (_, route) => {
  test("answers another team's row in its path like one that does not exist, and leaves it as it is", async () => {
    const [theirs, own] = [await calls.pathOf(route, ann.token), await calls.pathOf(route, ben.token)];
    const variables = route.path.split("/").flatMap((part, at) => (part.startsWith("{") ? [at] : []));
    const [their, mine] = [theirs.split("/"), own.split("/")];
    const alias = await NAMES_IN_PATHS[route.path.split("/")[2] ?? ""]?.(ann.token, theirs);
    // Every choice of segments that are theirs, the others being one's own; or theirs under another name.
    const choices = Array.from({ length: 2 ** variables.length - 1 }, (_, bits) =>
      variables.filter((_, at) => (bits + 1) & (1 << at)),
    );
    const asked = [...variables.map((at) => their[at] ?? ""), ...(alias ? [alias] : [])];
    await expectUntouched(ann, ben, asked, async () => {
      const replies: { reply: Reply; asked: string[] }[] = [];
      const askAt = async (at: number[], segmentAt: (at: number) => string) => {
        const path = mine.map((part, index) => (at.includes(index) ? segmentAt(index) : part)).join("/");
        const named = at.map(segmentAt);
        const { reply, shown } = await ask(route, ben.token, path, calls.goodBody(route), [
          ...named,
          ...named.map(decodeURIComponent),
        ]);
        replies.push({ reply, asked: named });
        expect(reply.status, `${path} ${reply.text}`).toBe(404);
        return shown;
      };
      for (const at of choices) {
        const heard = await askAt(at, (index) => their[index] ?? "");
        expect(heard).toEqual(await askAt(at, (index) => twinsOf(their[index] ?? "")[0] ?? ""));
      }
      const [first] = variables;
      if (alias !== undefined && first !== undefined) {
        const missing = alias.includes("@") ? "nobody@example.com" : "no-such-name";
        expect(await askAt([first], () => encodeURIComponent(alias))).toEqual(
          await askAt([first], () => missing),
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
  places.map(
    ([route, place]) =>
      [`${nameOf(route)} ${place.part} ${place.field.path.join(".")}`, route, place] as const,
  ),
)("%s", (name, route, place) => {
  test("takes another team's row for one that does not exist, and leaves it as it is", async () => {
    const paths = { ann: await calls.pathOf(route, ann.token), ben: await calls.pathOf(route, ben.token) };
    await FILLED[nameOf(route)]?.(ann.token, paths.ann);
    const ids = [...(await newestIds(world.deps.hot, ann.team.id)).values(), ann.keyId];
    const [event] = (await world.api("GET", "/api/events?limit=1", { token: ann.token })).body.data as [
      { cursor: string },
    ];
    const values = [...ids, event.cursor].filter((value) => takes(place.field, value));
    const askFor = (value: string, { token }: Holder, path: string) => {
      const [target, options] = callWith(route, place, path, value);
      return ask(route, token, target, options, [value]);
    };
    await expectUntouched(ann, ben, ids, async () => {
      const replies: { reply: Reply; asked: string[] }[] = [];
      for (const value of values) {
        const { reply, shown } = await askFor(value, ben, paths.ben);
        replies.push({ reply, asked: [value] });
        for (const twin of twinsOf(value)) expect(shown).toEqual((await askFor(twin, ben, paths.ben)).shown);
      }
      await expectNothingOf(ann, replies);
    });
    // Whoever's row it is gets another answer: the question reaches the rows at all.
    const heard = async (value: string) => {
      const { reply, shown } = await askFor(value, ann, paths.ann);
      return JSON.stringify(route.method === "GET" ? (reply.body.data ?? reply.body) : shown);
    };
    for (const value of values) {
      const own = await heard(value);
      for (const twin of twinsOf(value)) if ((await heard(twin)) !== own) return;
    }
    throw new Error(
      `No row makes a difference in ${name}: add a good call to BASES, or rows to FILLED, or the field to NO_ROWS`,
    );
  });
});

test("a team that has nothing sees nothing of all this in any list, count or file", async () => {
  expect(Object.keys(newcomerSaw)).toEqual(expect.arrayContaining(withoutId.map(nameOf)));
  expect(await lookAround(newcomer)).toEqual(newcomerSaw);
});

test("no list of one team holds a row of the other, in any page", async () => {
  for (const [by, of] of [
    [ben, ann],
    [ann, ben],
  ] as const) {
    const replies: { reply: Reply; asked: string[] }[] = [];
    for (const route of forKeys.filter(({ method }) => method === "GET")) {
      const path = await calls.pathOf(route, by.token);
      replies.push({ reply: await world.api("GET", path, { token: by.token }), asked: [] });
      expect(replies.at(-1)?.reply.status).toBe(route.status);
    }
    await expectNothingOf(of, replies);
  }
});

test("an idempotency key is one team's own", async () => {
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
