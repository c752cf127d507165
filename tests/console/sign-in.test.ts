import { eq, sql } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { sessions, users } from "#db/schema/teams";
import { hashPassword } from "#server/platform/secrets/passwords";
import { SIGN_IN_ATTEMPTS_PER_MINUTE, signIn } from "#server/services/account/sign-in/sign-in";
import { lockUser } from "#server/services/people/lock";
import {
  createUser,
  findUser,
  setPassword,
  verifyPassword,
  writePassword,
} from "#server/services/people/users";
import { openConsole, PASSWORD } from "../support/console/console";
import { waitForLock } from "../support/database/lock-wait";
import { openStatementLog } from "../support/database/statements";

const console = await openConsole();

const attempt = (email: string, password: string, address: string) =>
  signIn(console.deps, { email, password, address, userAgent: "test" });

describe("a password", () => {
  test("too short or too long is rejected with the rule", async () => {
    const user = await console.person();
    for (const password of ["short", "x".repeat(257)])
      await expect(setPassword(console.deps, { userId: user.id, password })).rejects.toThrow(/12 to 256/);
    expect(await verifyPassword(console.deps, { email: user.email, password: PASSWORD })).toEqual(user);
  });
});

describe("an account", () => {
  test("is found by its address in any letter case", async () => {
    const user = await console.person({ email: "Mixed.Case@Example.ORG" });
    expect(user.email).toBe("mixed.case@example.org");
    expect(await findUser(console.deps, " mixed.case@EXAMPLE.org ")).toEqual(user);
  });

  test("exists once per address", async () => {
    await console.person({ email: "twice@example.org" });
    await expect(console.person({ email: "TWICE@example.org" })).rejects.toThrow(/already/);
  });

  test("requires a valid email address", async () => {
    const input = { password: PASSWORD, teamId: console.world.ctx.teamId, role: "owner" } as const;
    for (const email of ["", "nobody", "Ann <ann@example.org>", "a@b@c"])
      await expect(createUser(console.deps, { ...input, email })).rejects.toThrow(/one email address/);
  });

  test("is not created without its team", async () => {
    const teamId = "01900000-0000-7000-8000-000000000000";
    const input = { email: "half@example.org", password: PASSWORD, teamId, role: "owner" } as const;
    await expect(createUser(console.deps, input)).rejects.toThrow();
    expect(await findUser(console.deps, "half@example.org")).toBeNull();
  });
});

describe("signing in", () => {
  test("opens a session for the right password", async () => {
    const user = await console.person();
    expect(await attempt(user.email, PASSWORD, "198.51.100.1")).toMatchObject({ kind: "signed_in", user });
  });

  test("is rejected with a password that is replaced during verification", async () => {
    const user = await console.person();
    const passwordHash = await hashPassword("another long phrase");
    const { pending } = await console.deps.db.transaction(async (tx) => {
      await lockUser(tx, user.id);
      const pending = attempt(user.email, PASSWORD, "198.51.100.9");
      await waitForLock(console.world.hot);
      await writePassword(tx, { userId: user.id, passwordHash });
      return { pending };
    });
    expect(await pending).toEqual({ kind: "rejected" });
    expect(await console.deps.db.$count(sessions, eq(sessions.userId, user.id))).toBe(0);
    expect((await attempt(user.email, "another long phrase", "198.51.100.9")).kind).toBe("signed_in");
  });

  test("does the same work for an unknown address as for a wrong password, down to the SQL statements", async () => {
    const user = await console.person();
    const log = openStatementLog(console.world.databaseUrl);
    const deps = { ...console.deps, db: log.db };
    const done = [];
    for (const email of [user.email, "nobody-at-all@example.org"]) {
      log.statements.length = 0;
      const result = await signIn(deps, {
        email,
        password: "not the password",
        address: "198.51.100.8",
        userAgent: null,
      });
      expect(result).toEqual({ kind: "rejected" });
      done.push([...log.statements]);
    }
    await log.close();
    expect(done[0]?.length).toBeGreaterThan(0);
    expect(done[1]).toEqual(done[0]);
  });

  test("treats malicious text as an unknown address", async () => {
    for (const email of ["\0", "a\0b@example.org", "' or 1=1 --", "x".repeat(100_000), "\ud800@example.org"])
      expect((await attempt(email, PASSWORD, "198.51.100.3")).kind).toBe("rejected");
  });

  test("is rejected after a few attempts at one account from one IP address, known or not", async () => {
    const user = await console.person();
    for (const [email, address] of [
      [user.email, "198.51.100.4"],
      ["nobody-at-all@example.org", "198.51.100.5"],
    ] as const) {
      const kinds: string[] = [];
      for (let i = 0; i <= SIGN_IN_ATTEMPTS_PER_MINUTE.addressAndAccount; i++)
        kinds.push((await attempt(email, "not the password", address)).kind);
      expect(kinds.at(-2)).toBe("rejected");
      expect(kinds.at(-1)).toBe("too_many_attempts");
    }
    expect((await attempt(user.email, PASSWORD, "198.51.100.6")).kind).toBe("signed_in");
  });

  test("is rejected after many attempts from one IP address at any accounts", async () => {
    const kinds: string[] = [];
    for (let i = 0; i <= SIGN_IN_ATTEMPTS_PER_MINUTE.address; i++)
      kinds.push((await attempt(`guess-${i}@example.org`, "not the password", "198.51.100.7")).kind);
    expect(kinds.at(-2)).toBe("rejected");
    expect(kinds.at(-1)).toBe("too_many_attempts");
  });

  test("still works for the user while attackers guess from many IP addresses", async () => {
    const user = await console.person();
    expect((await attempt(user.email, PASSWORD, "203.0.113.1")).kind).toBe("signed_in");
    const kinds: string[] = [];
    for (let i = 0; i <= SIGN_IN_ATTEMPTS_PER_MINUTE.accountFromStrangers; i++)
      kinds.push((await attempt(user.email, "not the password", `203.0.113.${i + 100}`)).kind);
    expect(kinds.at(-1)).toBe("too_many_attempts");
    expect((await attempt(user.email, PASSWORD, "203.0.113.1")).kind).toBe("signed_in");
  });

  test("leaves no password in the database", async () => {
    const rows = await console.deps.db.select({ all: sql<string>`${users}::text` }).from(users);
    expect(rows.length).toBeGreaterThan(0);
    for (const { all } of rows) expect(all).not.toContain(PASSWORD);
  });
});
