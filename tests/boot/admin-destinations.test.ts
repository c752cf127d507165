import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { type House, openHouse } from "../support/house";
import { killLeftovers } from "../support/processes";
import { runProgram } from "../support/program";

// Each command is a process of its own.
vi.setConfig({ testTimeout: 240_000 });

let house: House;
beforeAll(async () => {
  house = await openHouse();
});
afterEach(killLeftovers);
afterAll(() => house.close());

const destination = (...args: string[]) =>
  runProgram("server/boot/admin.ts", ["destination", ...args], { env: { DATABASE_URL: house.url } });

async function destinationJson(...args: string[]) {
  const { code, stdout, stderr } = await destination(...args, "--json");
  expect({ code, stderr: code === 0 ? "" : stderr }).toEqual({ code: 0, stderr: "" });
  return JSON.parse(stdout);
}

test("what a destination is given is set, changed, listed and taken away", async () => {
  expect(await destinationJson("set", "T\u00d6wn.Example", "--connections", "4")).toEqual({
    domain: "xn--twn-sna.example",
    connections_max: 4,
    per_minute: null,
    updated_at: expect.stringMatching(/^\d{4}-.*Z$/),
  });
  const changed = await destination("set", "xn--twn-sna.example", "--per-minute", "120");
  expect(changed.stdout).toContain("at most 4 connections at once and at most 120 mails a minute");
  const { data } = await destinationJson("list");
  expect(data).toMatchObject([{ domain: "xn--twn-sna.example", connections_max: 4, per_minute: 120 }]);
  const less = await destination("set", "xn--twn-sna.example", "--connections", "none");
  expect(less.stdout).toContain("is given at most 120 mails a minute.");
  expect((await destination("list")).stdout).toMatch(/xn--twn-sna\.example +none +120 +\d{4}-/);
  expect(await destinationJson("unset", "xn--twn-sna.example")).toMatchObject({ unset: true });
  expect(await destinationJson("list")).toEqual({ data: [] });
});

test("a limit that is none, or of nothing, is refused in a sentence", async () => {
  const wrong: [string[], number, string][] = [
    [["set", "example.com"], 1, "Give --connections, --per-minute, or both."],
    [["set", "example.com", "--connections", "none"], 1, "without a limit"],
    [["set", "example.com", "--connections", "0"], 2, "1 to 1000000, or none"],
    [["set", "nowhere", "--per-minute", "5"], 2, "domain"],
    [["unset", "example.com"], 1, "example.com has no limit."],
  ];
  for (const [args, code, sentence] of wrong) {
    const done = await destination(...args);
    expect([done.code, done.stdout]).toEqual([code, ""]);
    expect(done.stderr).toContain(sentence);
  }
  expect(await house.hot`select from destination_limits`).toHaveLength(0);
});
