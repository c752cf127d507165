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
