import { expect, test } from "vitest";
import { routes } from "#server/rest/routes";
import { createRouteCalls, nameOf } from "../rest/route-calls";
import { openWorld } from "../support/world";
import { sampleOf } from "./sample";

/**
 * Separate from `every-route.test.ts`, because the clock must not advance here: an exhausted limit stays
 * exhausted.
 */

const forKeys = routes.filter(({ access }) => typeof access === "object");

// The limit counts the calls of a minute, which never ends here.
const start = new Date();
const world = await openWorld({ clock: { now: () => start, advance: () => {} } });
const other = await world.otherTeam();
const { token } = await world.key();
const calls = createRouteCalls(world, other, token);

test.each(sampleOf(forKeys).map((route) => [nameOf(route), route] as const))(
  "%s is 401 also after guessed keys exhausted the limit of the client address",
  async (_, route) => {
    const path = await calls.pathOf(route, token);
    // All routes share this limit, so only the first one exhausts it.
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
