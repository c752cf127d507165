import { expect, test } from "vitest";
import type { Route } from "#server/rest/pipeline/route";
import { routes } from "#server/rest/routes";
import { fieldsOf } from "../support/database/schema-fields";
import { openWorld } from "../support/world";
import { createRouteCalls, nameOf } from "./route-calls";

const NOWHERE = ["018f0000-0000-7000-8000-000000000000", "ffffffff-ffff-7fff-bfff-ffffffffffff"];

const world = await openWorld();
const other = await world.otherTeam();
const tokens = { own: (await world.key()).token, foreign: (await other.key()).token };
const calls = createRouteCalls(world, other, tokens.own);

const isPaged = ({ query }: Route): boolean =>
  fieldsOf(query).some(({ path }) => path.length === 1 && path[0] === "before");

/** The path of a list, with a new row if the API can create one, and the id of the newest row. */
async function openList(route: Route, token: string): Promise<{ path: string; id: string | undefined }> {
  const single = routes.find(({ method, path }) => method === "GET" && path === `${route.path}/{id}`);
  if (single) await calls.pathOf(single, token);
  const path = await calls.pathOf(route, token);
  await world.deps.requestLog.flush();
  const { body } = await world.api("GET", path, { token });
  return { path, id: (body.data as { id: string }[])[0]?.id };
}

const paged = routes.filter(isPaged).map((route) => [nameOf(route), route] as const);

test("the tests below cover every list with id cursors", () => {
  expect(paged.map(([name]) => name)).toEqual(
    expect.arrayContaining(["GET /api/emails", "GET /api/logs", "GET /api/webhooks/{id}/events"]),
  );
});

test.each(paged)("%s: a cursor that is not a row of the team's list is 422 and named", async (_, route) => {
  const { path, id } = await openList(route, tokens.own);
  const theirs = await openList(route, tokens.foreign);
  const odd = [...NOWHERE, ...(theirs.id === undefined ? [] : [theirs.id])];
  for (const cursor of ["after", "before"]) {
    for (const wrong of odd) {
      const { status, body } = await world.api("GET", `${path}?${cursor}=${wrong}`, { token: tokens.own });
      expect({ status, name: body.name }).toEqual({ status: 422, name: "validation_error" });
      expect(body.message).toMatch(new RegExp(`^Invalid \`${cursor}\`: this list has no row ${wrong}\\.`));
    }
    if (id === undefined) continue;
    const good = await world.api("GET", `${path}?${cursor}=${id}`, { token: tokens.own });
    expect([cursor, good.status]).toEqual([cursor, 200]);
  }
});

test("the pages of every list follow one another, newest first, in both directions", async () => {
  const followed: string[] = [];
  for (let n = 0; n < 2; n++) await world.key();
  for (const [name, route] of paged) {
    // Each opening adds a row, except to lists within a row.
    for (let n = 0; n < 2; n++) await openList(route, tokens.own);
    const { path } = await openList(route, tokens.own);
    const read = async (query: string) => {
      const { body } = await world.api("GET", `${path}?${query}`, { token: tokens.own });
      return { ids: (body.data as { id: string }[]).map(({ id }) => id), more: body.has_more };
    };
    const { ids, more } = await read("limit=100");
    if (ids.length < 3 || more) continue;
    followed.push(name);
    const [first, second, third] = ids;
    expect(await read("limit=1"), name).toEqual({ ids: [first], more: true });
    expect(await read(`limit=1&after=${first}`), name).toEqual({ ids: [second], more: true });
    expect(await read(`limit=1&before=${third}`), name).toEqual({ ids: [second], more: true });
    expect(await read(`limit=1&after=${ids.at(-2)}`), name).toEqual({ ids: ids.slice(-1), more: false });
  }
  expect(followed).toEqual(
    expect.arrayContaining(
      ["emails", "templates", "domains", "api-keys", "webhooks", "suppressions"].map(
        (list) => `GET /api/${list}`,
      ),
    ),
  );
});
