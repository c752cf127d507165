import { afterAll, beforeAll, expect, test } from "vitest";
import { routes } from "#server/rest/routes";
import { createWorld, type TestTeam, type World } from "../support/world";
import { createRouteCalls, nameOf } from "./route-calls";

/**
 * Separate from `every-route.test.ts`, because the clock must not advance here: an exhausted limit stays
 * exhausted.
 */

const forKeys = routes.filter(({ access }) => typeof access === "object");

let world: World;
let other: TestTeam;
let token: string;
let calls: ReturnType<typeof createRouteCalls>;
beforeAll(async () => {
  world = await createWorld();
  other = await world.otherTeam();
  ({ token } = await world.key());
  calls = createRouteCalls(world, other, token);
});
afterAll(() => world.close());

test.each(forKeys.map((route) => [nameOf(route), route] as const))(
  "%s is 401 also after guessed keys exhausted the limit of the client address",
  async (_, route) => {
    const path = await calls.pathOf(route, token);
    // All routes share this limit, so it is exhausted for most of them.
    for (let n = 0; n < 65; n++) {
      const { headers } = await world.api(route.method, path);
      if (headers["x-ratelimit-remaining"] === "0") break;
    }
    const before = await world.rowCounts();
    const reply = await world.api(route.method, path);
    expect(reply.status).toBe(401);
    expect(reply.text).toBe('{"error":"Unauthorized"}');
    expect(reply.headers["x-ratelimit-remaining"]).toBe("0");
    expect(await world.rowCounts()).toEqual(before);
  },
);
