import { eq, sql } from "drizzle-orm";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sessions, users } from "#db/schema/teams";
import { hashPassword, isPasswordRight } from "#server/passwords";
import { holdUser } from "#server/services/account/factors";
import { SIGN_IN_TRIES_PER_MINUTE, signIn } from "#server/services/sign-in";
import { createUser, findUser, setPassword, verifyPassword, writePassword } from "#server/services/users";
import { type Console, openConsole, PASSWORD } from "../support/console";
import { untilLocked } from "../support/locked";
import { openStatementLog } from "../support/statements";

let console: Console;
beforeAll(async () => {
  console = await openConsole();
});
afterAll(() => console.close());

const tryIn = (email: string, password: string, address: string) =>
  signIn(console.deps, { email, password, address, userAgent: "test" });

describe("a password", () => {
  test("is kept only as a salted scrypt string that names its own cost", async () => {
    const [first, second] = await Promise.all([hashPassword(PASSWORD), hashPassword(PASSWORD)]);
    expect(first).toMatch(/^scrypt\$32768\$8\$3\$[\w-]{22}\$[\w-]{43}$/);
    expect(first).not.toBe(second);
    expect(await isPasswordRight(PASSWORD, first)).toBe(true);
    expect(await isPasswordRight(`${PASSWORD} `, first)).toBe(false);
  });

  test("waits for its turn behind a bounded number of others, and is told at once where those are too many", async () => {
    const cheap = `scrypt$1024$8$1$${"A".repeat(22)}$${"A".repeat(43)}`;
    const many = await Promise.allSettled(
      Array.from({ length: 120 }, () => isPasswordRight(PASSWORD, cheap)),
    );
    const refused = many.flatMap((each) => (each.status === "rejected" ? [each.reason] : []));
    expect(refused).toHaveLength(18);
    for (const reason of refused) expect(reason).toMatchObject({ code: "unavailable" });
    expect(await isPasswordRight(PASSWORD, cheap)).toBe(false);
  });

  test("hashed at another cost still opens", async () => {
    const cheap = "scrypt$1024$8$1$AAAAAAAAAAAAAAAAAAAAAA$";
    const { scryptSync } = await import("node:crypto");
    const hash = scryptSync(PASSWORD, Buffer.alloc(16), 32, { N: 1024, r: 8, p: 1 }).toString("base64url");
    expect(await isPasswordRight(PASSWORD, cheap + hash)).toBe(true);
  });

  test("typed with composed or decomposed letters is the same", async () => {
    const stored = await hashPassword("caf\u00e9 au lait noir");
    expect(await isPasswordRight("cafe\u0301 au lait noir", stored)).toBe(true);
  });

  test("never opens an account that has none, nor one whose entry is damaged", async () => {
    for (const stored of [
      null,
      "",
      "scrypt$1$1$1$x$y",
      `scrypt$32768$8$3$${"A".repeat(22)}$${"A".repeat(43)}`,
    ])
      expect(await isPasswordRight("", stored)).toBe(false);
  });

  test("too short or too long is refused with the rule", async () => {
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

  test("needs an address that mail could reach", async () => {
    const input = { password: PASSWORD, teamId: console.house.ctx.teamId, role: "owner" } as const;
    for (const email of ["", "nobody", "Ann <ann@example.org>", "a@b@c"])
      await expect(createUser(console.deps, { ...input, email })).rejects.toThrow(/one email address/);
  });

  test("is not left behind without its team", async () => {
    const teamId = "01900000-0000-7000-8000-000000000000";
    const input = { email: "half@example.org", password: PASSWORD, teamId, role: "owner" } as const;
    await expect(createUser(console.deps, input)).rejects.toThrow();
    expect(await findUser(console.deps, "half@example.org")).toBeNull();
  });
});

describe("signing in", () => {
  test("opens a session for the right password", async () => {
    const user = await console.person();
    expect(await tryIn(user.email, PASSWORD, "198.51.100.1")).toMatchObject({ kind: "in", user });
  });

  test("opens nothing by a password that is replaced while it is judged", async () => {
    const user = await console.person();
    const passwordHash = await hashPassword("another long phrase");
    const { trying } = await console.deps.db.transaction(async (tx) => {
      await holdUser(tx, user.id);
      const trying = tryIn(user.email, PASSWORD, "198.51.100.9");
      await untilLocked(console.house.hot);
      await writePassword(tx, { userId: user.id, passwordHash });
      return { trying };
    });
    expect(await trying).toEqual({ kind: "refused" });
    expect(await console.deps.db.$count(sessions, eq(sessions.userId, user.id))).toBe(0);
    expect((await tryIn(user.email, "another long phrase", "198.51.100.9")).kind).toBe("in");
  });

  test("answers an unknown address exactly like a wrong password", async () => {
    const user = await console.person();
    const wrong = await tryIn(user.email, "not the password", "198.51.100.2");
    const unknown = await tryIn("nobody@example.org", "not the password", "198.51.100.2");
    expect(wrong).toEqual({ kind: "refused" });
    expect(unknown).toEqual(wrong);
  });

  test("does the same for an unknown address as for a wrong password, down to the statements", async () => {
    const user = await console.person();
    const log = openStatementLog(console.house.url);
    const deps = { ...console.deps, db: log.db };
    const done = [];
    for (const email of [user.email, "nobody-at-all@example.org"]) {
      log.statements.length = 0;
      await signIn(deps, { email, password: "not the password", address: "198.51.100.8", userAgent: null });
      done.push([...log.statements]);
    }
    await log.close();
    expect(done[0]?.length).toBeGreaterThan(0);
    expect(done[1]).toEqual(done[0]);
  });

  test("takes hostile text for an address that nobody has", async () => {
    for (const email of ["\0", "a\0b@example.org", "' or 1=1 --", "x".repeat(100_000), "\ud800@example.org"])
      expect((await tryIn(email, PASSWORD, "198.51.100.3")).kind).toBe("refused");
  });

  test("is refused after a few tries at one account from one address, known or not", async () => {
    const user = await console.person();
    for (const [email, address] of [
      [user.email, "198.51.100.4"],
      ["nobody-at-all@example.org", "198.51.100.5"],
    ] as const) {
      const kinds: string[] = [];
      for (let i = 0; i <= SIGN_IN_TRIES_PER_MINUTE.addressAndAccount; i++)
        kinds.push((await tryIn(email, "not the password", address)).kind);
      expect(kinds.at(-2)).toBe("refused");
      expect(kinds.at(-1)).toBe("too_many_tries");
    }
    expect((await tryIn(user.email, PASSWORD, "198.51.100.6")).kind).toBe("in");
  });

  test("is refused after many tries from one address at whatever accounts", async () => {
    const kinds: string[] = [];
    for (let i = 0; i <= SIGN_IN_TRIES_PER_MINUTE.address; i++)
      kinds.push((await tryIn(`guess-${i}@example.org`, "not the password", "198.51.100.7")).kind);
    expect(kinds.at(-2)).toBe("refused");
    expect(kinds.at(-1)).toBe("too_many_tries");
  });

  test("stays open to an account's owner while strangers everywhere guess at it", async () => {
    const user = await console.person();
    expect((await tryIn(user.email, PASSWORD, "203.0.113.1")).kind).toBe("in");
    const kinds: string[] = [];
    for (let i = 0; i <= SIGN_IN_TRIES_PER_MINUTE.accountFromStrangers; i++)
      kinds.push((await tryIn(user.email, "not the password", `203.0.113.${i + 100}`)).kind);
    expect(kinds.at(-1)).toBe("too_many_tries");
    expect((await tryIn(user.email, PASSWORD, "203.0.113.1")).kind).toBe("in");
  });

  test("leaves no password in the database", async () => {
    const rows = await console.deps.db.select({ all: sql<string>`${users}::text` }).from(users);
    expect(rows.length).toBeGreaterThan(0);
    for (const { all } of rows) expect(all).not.toContain(PASSWORD);
  });
});
