import { afterAll, beforeAll, expect, test } from "vitest";
import { createWorld, type World } from "../support/world";

let world: World;
let token: string;
beforeAll(async () => {
  world = await createWorld();
  ({ token } = await world.key());
});
afterAll(() => world.close());

const atOnce = 30;

/** Makes `atOnce` concurrent calls, and returns the number of responses per status. */
async function callAtOnce(path: string, bodyOf: (n: number) => object): Promise<Record<number, number>> {
  const replies = await Promise.all(
    Array.from({ length: atOnce }, (_, n) => world.api("POST", path, { token, body: bodyOf(n) })),
  );
  const counts: Record<number, number> = {};
  for (const { status } of replies) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}
const countOf = async (table: "webhooks" | "domains", teamId = world.id) =>
  (await world.deps.hot.unsafe(`select count(*)::int as n from ${table} where team_id = $1`, [teamId]))[0]?.n;

test("concurrent calls cannot create more than 100 webhooks for a team", async () => {
  const body = { endpoint: "https://hooks.example.com/", events: ["email.sent"] };
  expect((await world.api("POST", "/api/webhooks", { token, body })).status).toBe(201);
  await world.deps.hot`
    insert into webhooks (id, team_id, url, events, secret)
    select uuid_v7(), team_id, url, events, secret from webhooks, generate_series(1, 96) where team_id = ${world.id}`;
  expect(await callAtOnce("/api/webhooks", () => body)).toEqual({ 201: 3, 409: 27 });
  expect(await countOf("webhooks")).toBe(100);
});

test("concurrent calls cannot create more than 1,000 domains for a team, and teams are counted separately", async () => {
  await world.deps.hot`
    insert into domains (id, team_id, name)
    select uuid_v7(), ${world.id}, 'many' || n || '.example' from generate_series(1, 996) as n`;
  expect(await callAtOnce("/api/domains", (n) => ({ name: `late${n}.example` }))).toEqual({
    201: 2,
    409: 28,
  });
  expect(await countOf("domains")).toBe(1_000);
  const other = await world.otherTeam();
  const foreign = await other.key();
  const body = { name: "first.example" };
  expect((await world.api("POST", "/api/domains", { token: foreign.token, body })).status).toBe(201);
});
