import { eq, sql } from "drizzle-orm";
import { expect, test } from "vitest";
import { memberships, sessions } from "#db/schema/teams";
import { getSession } from "#server/auth";
import { endSession, findSession } from "#server/services/people/sessions";
import { setPassword } from "#server/services/people/users";
import { cookiesOf, noCookies, openConsole } from "../support/console/console";

const console = await openConsole();

const read = async (id: string) => getSession(console.deps, await cookiesOf(id));
const shift = (id: string, values: Partial<Record<"lastSeenAt" | "expiresAt", ReturnType<typeof sql>>>) =>
  console.deps.db.update(sessions).set(values).where(eq(sessions.id, id));
const lastSeen = async (id: string) => {
  const [row] = await console.deps.db.select().from(sessions).where(eq(sessions.id, id));
  return row?.lastSeenAt.getTime();
};

test("a session contains the user and their teams", async () => {
  const user = await console.person({ role: "admin" });
  const { id } = await console.session(user.id);
  const teamId = console.world.ctx.teamId;
  const memberships = [{ teamId, teamName: "First", role: "admin" }];
  expect(await read(id)).toEqual({ id, user, memberships, isOperator: false });
});

test("an ended session is rejected at its next request, and the user's other session is not", async () => {
  const user = await console.person();
  const [here, there] = [await console.session(user.id), await console.session(user.id)];
  await endSession(console.deps, here.id);
  expect(await read(here.id)).toBeNull();
  expect(await read(there.id)).not.toBeNull();
});

test("a session expires", async () => {
  const { id } = await console.session((await console.person()).id);
  await shift(id, { expiresAt: sql`now() - interval '1 second'` });
  expect(await read(id)).toBeNull();
});

test("a new password ends all sessions of that user only", async () => {
  const [user, other] = [await console.person(), await console.person()];
  const own = [await console.session(user.id), await console.session(user.id)];
  const foreign = await console.session(other.id);
  await setPassword(console.deps, { userId: user.id, password: "another long phrase" });
  for (const { id } of own) expect(await read(id)).toBeNull();
  expect(await read(foreign.id)).not.toBeNull();
});

test("a user removed from all teams stays signed in, without a team", async () => {
  const user = await console.person();
  const { id } = await console.session(user.id);
  await console.deps.db.delete(memberships).where(eq(memberships.userId, user.id));
  expect(await read(id)).toMatchObject({ user, memberships: [] });
});

test("the last-seen time of a session is written once per minute, not with every request", async () => {
  const { id } = await console.session((await console.person()).id);
  const opened = await lastSeen(id);
  await findSession(console.deps, id);
  expect(await lastSeen(id)).toBe(opened);
  await shift(id, { lastSeenAt: sql`now() - interval '2 minutes'` });
  const stale = await lastSeen(id);
  await findSession(console.deps, id);
  expect(await lastSeen(id)).toBeGreaterThan(stale ?? 0);
});

test("a forged cookie is not a session", async () => {
  const { id } = await console.session((await console.person()).id);
  const { encode } = await import("next-auth/jwt");
  const foreign = await encode({ token: { sid: id }, secret: "b".repeat(64) });
  for (const value of ["", "x", "a.b.c.d.e", id, foreign, "x".repeat(10_000)])
    expect(await getSession(console.deps, { get: () => ({ value }) })).toBeNull();
  expect(await getSession(console.deps, noCookies)).toBeNull();
});
