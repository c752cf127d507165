import { expect, test } from "vitest";
import { openWorld } from "../support/world";

/** As many as the connections for transactions, because a call that waits too long for one gets 503. */
const atOnce = 8;

const world = await openWorld({ connectionsMax: 2 * atOnce });
const { token } = await world.key();

/** Makes `atOnce` concurrent calls, and returns their statuses in order. */
async function callAtOnce(path: string, bodyOf: (n: number) => object): Promise<number[]> {
  const calls = Array.from({ length: atOnce }, (_, n) => world.api("POST", path, { token, body: bodyOf(n) }));
  return (await Promise.all(calls)).map(({ status }) => status).sort();
}
const countOf = async (table: "webhooks" | "domains") =>
  (await world.hot.unsafe(`select count(*)::int as n from ${table} where team_id = $1`, [world.id]))[0]?.n;

test("concurrent calls cannot create more than 100 webhooks for a team", async () => {
  const body = { endpoint: "https://hooks.example.com/", events: ["email.sent"] };
  expect((await world.api("POST", "/api/webhooks", { token, body })).status).toBe(201);
  await world.hot`
    insert into webhooks (id, team_id, url, events, secret)
    select uuid_v7(), team_id, url, events, secret from webhooks, generate_series(1, 96) where team_id = ${world.id}`;
  expect(await callAtOnce("/api/webhooks", () => body)).toEqual([201, 201, 201, 409, 409, 409, 409, 409]);
  expect(await countOf("webhooks")).toBe(100);
  const reply = await world.api("POST", "/api/webhooks", { token, body });
  expect(reply.body.message).toMatch(/at most 100/);
});

test("concurrent calls cannot create more than 1,000 domains for a team, and teams are counted separately", async () => {
  await world.hot`
    insert into domains (id, team_id, name)
    select uuid_v7(), ${world.id}, 'many' || n || '.example' from generate_series(1, 996) as n`;
  const statuses = await callAtOnce("/api/domains", (n) => ({ name: `late${n}.example` }));
  expect(statuses).toEqual([201, 201, 409, 409, 409, 409, 409, 409]);
  expect(await countOf("domains")).toBe(1_000);
  const foreign = await (await world.otherTeam()).key();
  const body = { name: "first.example" };
  expect((await world.api("POST", "/api/domains", { token: foreign.token, body })).status).toBe(201);
});
