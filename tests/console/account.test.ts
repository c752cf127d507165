import { eq, sql } from "drizzle-orm";
import { beforeEach, describe, expect, test } from "vitest";
import { accountEvents, accounts, passkeys, twoFactorChallenges } from "#db/schema/account";
import { sessions, users } from "#db/schema/teams";
import { getSession } from "#server/auth";
import { newId } from "#server/platform/ids";
import { resetTwoFactor } from "#server/services/account/factors/two-factor";
import { lockUser } from "#server/services/people/lock";
import { deleteOldAccountRecords } from "#server/services/people/records";
import { isKnownAddress } from "#server/services/people/sessions";
import { hashNewPassword, setPassword, type User, writePassword } from "#server/services/people/users";
import { enrol } from "../support/console/authenticator-app";
import { openConsole, PASSWORD } from "../support/console/console";
import { openVisitor, type SignInVisitor } from "../support/console/sign-in-visitor";
import { waitForLock } from "../support/database/lock-wait";
import { refused } from "../support/rejected";

const console = await openConsole();

let addresses = 0;
const open = (userAgent?: string) =>
  openVisitor(console.deps, {
    address: `198.51.100.${++addresses}`,
    ...(userAgent === undefined ? {} : { userAgent }),
  });
type Person = { user: User; visitor: SignInVisitor };
const signedIn = async ({ email }: User) => {
  const visitor = open();
  await visitor.signIn(email, PASSWORD);
  return visitor;
};
async function openPerson(): Promise<Person> {
  const user = await console.person();
  return { user, visitor: await signedIn(user) };
}
const isIn = async (visitor: SignInVisitor) => (await getSession(console.deps, visitor.cookies)) !== null;
const rowsOf = async <Row>(visitor: SignInVisitor, procedure: string): Promise<Row[]> => {
  const called = await visitor.query(procedure);
  return called.ok ? (called.data as Row[]) : [];
};
type Row = { id: string; isCurrent: boolean; agent: string; address: string };
const sessionsOf = (visitor: SignInVisitor) => rowsOf<Row>(visitor, "account.sessions");
type ProviderEvent = { kind: string; what: string; address: string; agent: string };
const eventsOf = (visitor: SignInVisitor) => rowsOf<ProviderEvent>(visitor, "account.events");

let ann: Person;
beforeEach(async () => {
  ann = await openPerson();
});

describe("the session list", () => {
  test("shows the browser, the IP address and which session is current; includes only the user's own sessions", async () => {
    const mac =
      "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.0 Safari/605.1.15";
    const [second, third] = [open(mac), open("<img src=x onerror=alert(1)>")];
    await second.signIn(ann.user.email, PASSWORD);
    await third.signIn(ann.user.email, PASSWORD);
    const rows = await sessionsOf(second);
    expect(rows.map(({ agent }) => agent).sort()).toEqual([
      "Firefox on Linux",
      "Safari on macOS",
      "Unknown browser",
    ]);
    expect(rows.filter(({ isCurrent }) => isCurrent).map(({ agent }) => agent)).toEqual(["Safari on macOS"]);
    expect(rows.every(({ address }) => address.startsWith("198.51.100."))).toBe(true);
  });

  test("excludes ended sessions", async () => {
    const other = await signedIn(ann.user);
    await console.deps.db
      .update(sessions)
      .set({ expiresAt: sql`now() - interval '1 second'` })
      .where(eq(sessions.id, (await sessionsOf(other)).find(({ isCurrent }) => isCurrent)?.id ?? ""));
    expect(await sessionsOf(ann.visitor)).toHaveLength(1);
  });
});

describe("ending a session", () => {
  test("rejects its next request; other sessions stay active", async () => {
    const other = await signedIn(ann.user);
    const id = (await sessionsOf(ann.visitor)).find(({ isCurrent }) => !isCurrent)?.id;
    expect(await ann.visitor.call("account.endSession", { id })).toMatchObject({ ok: true });
    expect(await other.query("account.signInMethods")).toMatchObject({ ok: false, code: "UNAUTHORIZED" });
    expect(await isIn(ann.visitor)).toBe(true);
    expect((await eventsOf(ann.visitor))[0]).toMatchObject({ kind: "session_ended" });
  });

  test("ends all of the user's other sessions, but no other user's", async () => {
    const ben = await openPerson();
    const others = [open(), open()];
    for (const other of others) await other.signIn(ann.user.email, PASSWORD);
    expect(await ann.visitor.call("account.endOtherSessions")).toMatchObject({ ok: true });
    for (const other of others) expect(await isIn(other)).toBe(false);
    expect(await isIn(ann.visitor)).toBe(true);
    expect(await isIn(ben.visitor)).toBe(true);
  });
});

describe("changing the password", () => {
  test("requires the current password and ends the other sessions", async () => {
    const other = await signedIn(ann.user);
    const next = "another long phrase";
    expect(await ann.visitor.call("account.changePassword", { current: "wrong", next })).toMatchObject({
      ok: false,
      message: "Incorrect current password.",
    });
    expect(
      await ann.visitor.call("account.changePassword", { current: PASSWORD, next: "short" }),
    ).toMatchObject(refused(/12 to 256/));
    expect(await isIn(other)).toBe(true);
    expect(await ann.visitor.call("account.changePassword", { current: PASSWORD, next })).toMatchObject({
      ok: true,
    });
    expect(await isIn(other)).toBe(false);
    expect(await isIn(ann.visitor)).toBe(true);
    expect((await open().signIn(ann.user.email, PASSWORD)).isIn).toBe(false);
    expect((await open().signIn(ann.user.email, next)).isIn).toBe(true);
    expect((await eventsOf(ann.visitor)).map(({ kind }) => kind)).toContain("password_changed");
  });

  test("does not overwrite a password that was changed while the current one was verified", async () => {
    const [next, reset] = ["another long phrase", "what the owner chose by a link"];
    const passwordHash = await hashNewPassword(reset);
    const { changing } = await console.deps.db.transaction(async (tx) => {
      await lockUser(tx, ann.user.id);
      const changing = ann.visitor.call("account.changePassword", { current: PASSWORD, next });
      await waitForLock(console.world.hot);
      await writePassword(tx, { userId: ann.user.id, passwordHash });
      return { changing };
    });
    expect(await changing).toMatchObject({ ok: false, message: "Incorrect current password." });
    expect((await open().signIn(ann.user.email, next)).isIn).toBe(false);
    expect((await open().signIn(ann.user.email, reset)).isIn).toBe(true);
  });

  test("limits guesses in an unattended session to a few attempts per minute; failed attempts end no session", async () => {
    const codes: string[] = [];
    for (let i = 0; i < 8; i++) {
      const called = await ann.visitor.call("account.changePassword", { current: "x", next: "y".repeat(12) });
      codes.push(called.ok ? "OK" : called.code);
    }
    expect(codes.at(0)).toBe("UNPROCESSABLE_CONTENT");
    expect(codes.at(-1)).toBe("TOO_MANY_REQUESTS");
    expect((await open().signIn(ann.user.email, PASSWORD)).isIn).toBe(true);
  });
});

describe("a user with neither a password nor a factor", () => {
  test("can change security settings only shortly after sign-in", async () => {
    await console.deps.db.update(users).set({ passwordHash: null }).where(eq(users.id, ann.user.id));
    expect(await ann.visitor.query("account.signInMethods")).toMatchObject({
      data: { hasPassword: false, proof: "fresh_session" },
    });
    expect(await ann.visitor.call("account.startAuthenticator", { proof: "" })).toMatchObject({ ok: true });
    await console.deps.db
      .update(sessions)
      .set({ createdAt: sql`now() - interval '11 minutes'` })
      .where(eq(sessions.userId, ann.user.id));
    expect(await ann.visitor.call("account.startAuthenticator", { proof: "" })).toMatchObject(
      refused(/10 minutes/),
    );
  });

  test("cannot remove the last sign-in method", async () => {
    await console.deps.db.update(users).set({ passwordHash: null }).where(eq(users.id, ann.user.id));
    await console.deps.db
      .insert(accounts)
      .values({ provider: "github", providerAccountId: newId(), userId: ann.user.id, email: ann.user.email });
    expect(await ann.visitor.call("account.unlink", { provider: "github" })).toMatchObject({
      ok: false,
      code: "CONFLICT",
    });
    expect(await console.deps.db.$count(accounts, eq(accounts.userId, ann.user.id))).toBe(1);
  });
});

/** Every account procedure with an id in its input, with the input that the row's owner would send. */
const WITH_ID: Record<string, (id: string) => object> = {
  "account.endSession": (id) => ({ id }),
  "account.renamePasskey": (id) => ({ id, name: "Mine" }),
  "account.removePasskey": (id) => ({ id, proof: PASSWORD }),
};
describe("rows of another user", () => {
  test.each(Object.entries(WITH_ID))(
    "%s returns the same error as for a missing row, and changes nothing",
    async (name, input) => {
      const ben = await openPerson();
      const passkeyId = newId();
      await console.deps.db.insert(passkeys).values({
        id: passkeyId,
        userId: ben.user.id,
        credentialId: newId(),
        publicKey: Buffer.from("x"),
        counter: 0,
        isSynced: false,
        name: "Ben's",
      });
      const foreign = name.endsWith("Session") ? (await sessionsOf(ben.visitor))[0]?.id : passkeyId;
      const responses = [];
      for (const id of [foreign ?? "", newId()]) responses.push(await ann.visitor.call(name, input(id)));
      expect(responses[0]).toMatchObject({ ok: false, code: "NOT_FOUND" });
      for (const each of responses) expect(each).toEqual(responses[0]);
      expect(await ann.visitor.call(name, input("x\0"))).toMatchObject({ ok: false });
      expect(await isIn(ben.visitor)).toBe(true);
      const [kept] = await console.deps.db.select().from(passkeys).where(eq(passkeys.id, passkeyId));
      expect(kept?.name).toBe("Ben's");
    },
  );

  test("are in no list: account events are visible only to their user", async () => {
    const ben = await openPerson();
    await open().signIn(ann.user.email, "wrong password");
    await ann.visitor.call("account.endOtherSessions");
    expect(await eventsOf(ben.visitor)).toHaveLength(1);
  });
});

describe("the operator", () => {
  test("turns off 2FA for a user who has lost all factors, and ends their sessions", async () => {
    await enrol(ann.visitor, PASSWORD, new Date());
    expect((await open().signIn(ann.user.email, PASSWORD)).isIn).toBe(false);
    await resetTwoFactor(console.deps, ann.user.id);
    expect(await isIn(ann.visitor)).toBe(false);
    const after = open();
    expect((await after.signIn(ann.user.email, PASSWORD)).isIn).toBe(true);
    expect(await eventsOf(after)).toContainEqual(
      expect.objectContaining({ kind: "second_factor_reset", address: null }),
    );
    await expect(resetTwoFactor(console.deps, ann.user.id)).rejects.toThrow(/not on for this user/);
  });
});

test("a password set by the operator is recorded in the account events", async () => {
  await setPassword(console.deps, { userId: ann.user.id, password: PASSWORD });
  const after = open();
  await after.signIn(ann.user.email, PASSWORD);
  expect(await eventsOf(after)).toContainEqual(
    expect.objectContaining({ kind: "password_set_by_operator", address: null, agent: null }),
  );
});

describe("account records", () => {
  test("are deleted after 90 days, and expired challenges at once", async () => {
    const db = console.deps.db;
    const mine = eq(accountEvents.userId, ann.user.id);
    await db.insert(twoFactorChallenges).values({
      tokenHash: Buffer.from(newId()),
      userId: ann.user.id,
      method: "password",
      expiresAt: sql`now() - interval '1 second'`,
    });
    await deleteOldAccountRecords(console.world.hot, 1_000);
    expect(await db.$count(accountEvents, mine)).toBe(1);
    expect(await db.$count(twoFactorChallenges, eq(twoFactorChallenges.userId, ann.user.id))).toBe(0);
    await db.update(accountEvents).set({ createdAt: sql`now() - interval '91 days'` }).where(mine);
    expect(await eventsOf(ann.visitor)).toHaveLength(0);
    await deleteOldAccountRecords(console.world.hot, 1_000);
    expect(await db.$count(accountEvents, mine)).toBe(0);
  });

  test("are deleted with the session after 90 days; its IP address counts as known until then", async () => {
    const ben = await openPerson();
    const db = console.deps.db;
    const mine = eq(sessions.userId, ann.user.id);
    const [session] = await db.select().from(sessions).where(mine);
    const isKnown = () =>
      isKnownAddress(console.deps, { email: ann.user.email, address: session?.address ?? "" });
    const age = (days: number) =>
      db
        .update(sessions)
        .set({
          createdAt: sql`now() - ${days} * interval '1 day'`,
          expiresAt: sql`now() - ${days - 30} * interval '1 day'`,
        })
        .where(mine);
    await age(89);
    await deleteOldAccountRecords(console.world.hot, 1_000);
    expect(await isKnown()).toBe(true);
    await age(91);
    expect(await isKnown()).toBe(false);
    await deleteOldAccountRecords(console.world.hot, 1_000);
    expect(await db.$count(sessions, mine)).toBe(0);
    expect(await isIn(ben.visitor)).toBe(true);
  });
});
