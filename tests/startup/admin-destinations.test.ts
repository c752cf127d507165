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

test("an invalid limit or destination is rejected with a message", async () => {
  const wrong: [string[], number, string][] = [
    [["set", "example.com"], 2, "use --connections or --per-minute"],
    [["set", "example.com", "--connections", "none"], 1, "no limit left"],
    [["set", "example.com", "--connections", "0"], 2, "1 to 1000000. Or enter none."],
    [["set", "nowhere", "--per-minute", "5"], 2, "domain"],
    [["unset", "example.com"], 1, "example.com has no limit."],
  ];
  for (const [args, code, sentence] of wrong) {
    const done = await destination(...args);
    expect([done.code, done.stdout]).toEqual([code, ""]);
    expect(done.stderr).toContain(sentence);
  }
  expect(await world.hot`select from destination_limits`).toHaveLength(0);
});
