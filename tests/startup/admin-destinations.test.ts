import { expect, test } from "vitest";
import { forAllTests } from "../support/fixtures";
import { commandsOf } from "../support/processes/command-line";
import { createWorld } from "../support/world";

const world = forAllTests(() => createWorld());

const { cli, cliJson } = commandsOf(() => ({ DATABASE_URL: world.databaseUrl }));
const destination = (...args: string[]) => cli(["destination", ...args]);
const destinationJson = (...args: string[]) => cliJson(["destination", ...args]);

test("the limits of a destination are set, changed, listed and removed", async () => {
  expect(await destinationJson("set", "T\u00d6wn.Example", "--connections", "4")).toEqual({
    domain: "xn--twn-sna.example",
    connections_max: 4,
    per_minute: null,
    updated_at: expect.stringMatching(/^\d{4}-.*Z$/),
  });
  const changed = await destination("set", "xn--twn-sna.example", "--per-minute", "120");
  expect(changed.stdout).toMatch(/Connections max +4\n +Per minute +120\n/);
  const { data } = await destinationJson("list");
  expect(data).toMatchObject([{ domain: "xn--twn-sna.example", connections_max: 4, per_minute: 120 }]);
  const less = await destination("set", "xn--twn-sna.example", "--connections", "none");
  expect(less.stdout).toMatch(/Connections max +none\n +Per minute +120\n/);
  expect((await destination("list")).stdout).toMatch(/xn--twn-sna\.example +120 +\d{4}-/);
  expect(await destinationJson("unset", "xn--twn-sna.example")).toMatchObject({ unset: true });
  expect(await destinationJson("list")).toEqual({ data: [] });
});

test("MX hosts are added to destinations, and removed", async () => {
  const added = { host: "mx.town.example", destination: "big.example" };
  expect(await destinationJson("add-host", "mx.Town.example", "--to", "big.example")).toEqual(added);
  expect(await destinationJson("hosts")).toEqual({ data: [added] });
  expect(await destinationJson("remove-host", "mx.town.example")).toEqual({ ...added, removed: true });
  expect(await destinationJson("hosts")).toEqual({ data: [] });
  expect((await destination("remove-host", "mx.town.example")).stderr).toMatch(/was not added/);
});

test("the status shows why a destination is limited, until when, and how much waits", async () => {
  await world.hot`
    insert into destination_states (source, destination, connections, per_minute, objections, reason, objected_at, blocked_until)
    values ('203.0.113.9', 'big.example', 1, 6, 1, '421 4.7.0 Too many', now(), now() + interval '5 min')`;
  expect(await destinationJson("status")).toMatchObject({
    data: [
      {
        destination: "big.example",
        source: "203.0.113.9",
        connections: 1,
        per_minute: 6,
        reason: "objection",
        reply: "421 4.7.0 Too many",
        blocked_until: expect.stringMatching(/Z$/),
        waiting: 0,
      },
    ],
  });
});
