import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { createUser } from "#server/services/people/users";
import { type House, openHouse } from "../support/house";
import { killLeftovers } from "../support/processes";
import { runProgram } from "../support/program";
import { relayTo } from "../support/relays";

// Each command runs in its own process.
vi.setConfig({ testTimeout: 240_000 });

const secret = "the secret of an operator in a test, which is long enough";
let house: House;
beforeAll(async () => {
  house = await openHouse();
  const person = { email: "cleo@example.com", password: "correct horse battery" };
  await createUser(house.deps, { ...person, teamId: house.ctx.teamId, role: "owner" });
});
afterEach(killLeftovers);
afterAll(() => house.close());

const cli = (args: string[], env: Record<string, string> = {}) =>
  runProgram("server/startup/admin.ts", args, {
    env: { DATABASE_URL: house.url, BACKSTAMP_SECRET: secret, ...env },
  });

test("a printed link uses the configured public URL, never the default", async () => {
  await relayTo(house.deps, { port: 1 }, { name: "pm", provider: "postmark" });
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
  const [row] = await house.hot`select count(*)::int as made from sign_in_tokens`;
  expect(row?.made).toBe(0);
  for (const args of PRINTING) {
    const { code, stdout } = await cli(args, { PORT: "3999", BACKSTAMP_URL: "https://mail.example.net" });
    expect(code).toBe(0);
    expect(stdout).toContain("https://mail.example.net/");
    expect(stdout).not.toContain("localhost");
  }
});
