import { beforeAll, expect, test } from "vitest";
import { createUser } from "#server/services/people/users";
import { forAllTests } from "../support/fixtures";
import { runCommand } from "../support/processes/command-line";
import { relayTo } from "../support/relays";
import { createWorld } from "../support/world";

const secret = "the secret of an operator in a test, which is long enough";
const world = forAllTests(() => createWorld({ secret }));
beforeAll(async () => {
  const person = { email: "cleo@example.com", password: "correct horse battery" };
  await createUser(world.deps, { ...person, teamId: world.ctx.teamId, role: "owner" });
});

const cli = (args: string[], env: Record<string, string> = {}) =>
  runCommand(args, {
    env: { DATABASE_URL: world.databaseUrl, BACKSTAMP_SECRET: secret, ...env },
  });

test("a printed link uses the configured public URL, never the default", async () => {
  await relayTo(world.deps, { port: 1 }, { name: "pm", provider: "postmark" });
  const PRINTING = [
    ["user", "reset-password", "cleo@example.com"],
    ["callback", "show", "pm"],
    ["inbound", "token"],
  ];
  for (const args of PRINTING) {
    const guessed = await cli(args, { PORT: "3999" });
    expect({ code: guessed.code, stdout: guessed.stdout }).toEqual({ code: 1, stdout: "" });
    expect(guessed.stderr).toMatch(/^backstamp: BACKSTAMP_URL is not set\b.*https:\/\/mail\.example\.com/);
  }
  const [row] = await world.hot`select count(*)::int as made from sign_in_tokens`;
  expect(row?.made).toBe(0);
  for (const args of PRINTING) {
    const { code, stdout } = await cli(args, { PORT: "3999", BACKSTAMP_URL: "https://mail.example.net" });
    expect(code).toBe(0);
    expect(stdout).toContain("https://mail.example.net/");
    expect(stdout).not.toContain("localhost");
  }
});
