import { expect, test } from "vitest";
import { forAllTests } from "../support/fixtures";
import { commandsOf } from "../support/processes/command-line";
import { createWorld } from "../support/world";

const world = forAllTests(() => createWorld());
const { cli, cliJson } = commandsOf(() => ({ DATABASE_URL: world.databaseUrl }));
const reply = (...args: string[]) => cliJson(["reply", ...args]);

test("a rule for replies is set, explained, listed and removed", async () => {
  expect(await reply("explain", "450 4.2.1 Mailbox is closed")).toMatchObject({
    outcome: "deferred",
    suppresses: false,
  });
  const set = [
    "set",
    "closed",
    "--pattern",
    "450*Mailbox is CLOSED",
    "--class",
    "hard",
    "--action",
    "suppress",
  ];
  expect(await reply(...set, "--destination", "example.com", "--expires", "2099-01-31")).toEqual({
    name: "closed",
    pattern: "450*mailbox is closed",
    destination: "example.com",
    class: "hard",
    action: "suppress",
    expires_at: "2099-01-31T00:00:00.000Z",
    updated_at: expect.stringMatching(/^\d{4}-.*Z$/),
  });
  expect(await reply("explain", "450 4.2.1 Mailbox is closed")).toEqual({
    outcome: "rejected",
    class: "hard",
    rule: "operator:closed",
    suppresses: true,
  });
  const elsewhere = ["explain", "450 4.2.1 Mailbox is closed", "--domain", "example.net"];
  expect(await reply(...elsewhere)).toMatchObject({ outcome: "deferred", suppresses: false });
  expect(await reply("list")).toMatchObject({ data: [{ name: "closed" }] });
  const wrong = await cli(["reply", "set", "x", "--pattern", "*", "--class", "hard"]);
  expect(wrong).toMatchObject({ code: 1, stderr: expect.stringContaining("Invalid pattern.") });
  expect(await reply("unset", "closed")).toMatchObject({ unset: true });
  expect(await reply("list")).toEqual({ data: [] });
});
