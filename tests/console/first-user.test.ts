import { beforeEach, expect, test } from "vitest";
import { getSession } from "#server/auth";
import { createFirstUserCode, hasUsers } from "#server/services/account/first-user";
import { listTeams } from "#server/services/teams";
import { prepareFirstUser, seedDatabase } from "#server/startup/install/seed";
import { FOR_CONCURRENT_CALLS, openConsole } from "../support/console/console";
import { openVisitor } from "../support/console/sign-in-visitor";

const PERSON = { email: "ann@example.org", password: "a long enough password" };

const console = await openConsole(FOR_CONCURRENT_CALLS);
beforeEach(async () => {
  await console.world.hot`delete from users`;
  await console.world.hot`delete from sign_in_tokens`;
});

let addresses = 0;
const stranger = () => openVisitor(console.deps, { address: `203.0.113.${++addresses}` });
const setUp = (code: string, person = PERSON, visitor = stranger()) =>
  visitor.postJson("first-user", { code, ...person });
async function makeCode(): Promise<string> {
  const code = await createFirstUserCode(console.deps);
  if (code === null) throw new Error("there is a user already");
  return code;
}
const people = () => console.world.hot<{ email: string; role: string }[]>`
  select u.email, m.role from users u join memberships m on m.user_id = u.id`;

test("the setup code creates the first user as owner, and no code works after that", async () => {
  const [code, other] = [await makeCode(), await makeCode()];
  expect(code).toMatch(/^([0-9A-Z]{4}-){7}[0-9A-Z]{4}$/);
  const visitor = stranger();
  expect(await setUp(code, PERSON, visitor)).toMatchObject({ status: 201, reply: { email: PERSON.email } });
  expect(await people()).toEqual([{ email: PERSON.email, role: "owner" }]);
  expect(await visitor.signIn(PERSON.email, PERSON.password)).toMatchObject({ isIn: true });
  expect(await getSession(console.deps, visitor.cookies)).toMatchObject({
    isOperator: true,
    memberships: [{ role: "owner" }],
  });
  for (const dead of [code, other])
    expect((await setUp(dead, { ...PERSON, email: "eve@example.org" })).status).toBe(410);
  expect(await createFirstUserCode(console.deps)).toBeNull();
  expect(await console.world.hot`select * from sign_in_tokens`).toEqual([]);
});

test("of several concurrent uses of setup codes, one creates the owner", async () => {
  const [code, other] = [await makeCode(), await makeCode()];
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, index) =>
      setUp(index % 2 === 0 ? code : other, { ...PERSON, email: `person-${index}@example.org` }),
    ),
  );
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
  expect(answers.filter(({ status }) => status === 410)).toHaveLength(7);
  expect(await people()).toMatchObject([{ role: "owner" }]);
});

test("a startup that creates the configured user and a concurrent use of the code create one owner", async () => {
  const code = await makeCode();
  const input = { adminEmail: "admin@example.org", adminPassword: "given by the settings", wantsKey: false };
  await Promise.all([setUp(code), seedDatabase(console.deps, input), seedDatabase(console.deps, input)]);
  expect(await people()).toHaveLength(1);
  expect(await listTeams(console.deps)).toHaveLength(1);
});

test("rejects a wrong, an expired and a forged code", async () => {
  const code = await makeCode();
  const changed = `${code.slice(0, -1)}${code.endsWith("2") ? "3" : "2"}`;
  for (const wrong of [changed, code.slice(5), "", "\0", "' or 1=1 --", "x".repeat(100)])
    expect(await setUp(wrong), wrong).toMatchObject({ status: 410 });
  await console.world.hot`update sign_in_tokens set expires_at = now()`;
  expect((await setUp(code)).status).toBe(410);
  expect(await hasUsers(console.deps)).toBe(false);
});

test("accepts common ways to type a code; an invalid address or password does not use it up", async () => {
  const code = await makeCode();
  expect((await setUp(code, { ...PERSON, password: "short" })).status).toBe(422);
  expect((await setUp(code, { ...PERSON, email: "nobody" })).status).toBe(422);
  expect((await setUp(` ${code.toLowerCase().replaceAll("-", " ").replaceAll("0", "o")} `)).status).toBe(201);
});

test("stores only a hash of the code, accepts it only from our own page, and limits attempts", async () => {
  const code = await makeCode();
  const rows = await console.world.hot<{ row: string }[]>`select t::text as row from sign_in_tokens t`;
  expect(rows).toHaveLength(1);
  for (const { row } of rows) expect(row).not.toContain(code.replaceAll("-", ""));
  const visitor = stranger();
  expect(
    (await visitor.postJson("first-user", { code, ...PERSON }, { origin: "https://evil.example" })).status,
  ).toBe(403);
  const statuses = [];
  for (let i = 0; i < 11; i++) statuses.push((await setUp("guess", PERSON, visitor)).status);
  expect(statuses.slice(0, 10)).toEqual(Array(10).fill(410));
  expect(statuses.at(-1)).toBe(429);
  expect(await hasUsers(console.deps)).toBe(false);
});

test("without a launcher, the first visit creates the configured user or writes a link to the log", async () => {
  const settings = { adminEmail: "admin@example.org", url: "https://mail.example.org" };
  await prepareFirstUser(console.deps, { ...settings, adminPassword: null });
  const written = console.lines.filter(({ event }) => event === "first_user.link");
  expect(written).toHaveLength(1);
  const code = /^https:\/\/mail\.example\.org\/setup#([0-9A-Z-]{39})$/.exec(
    String(written[0]?.facts.setUp),
  )?.[1];
  expect(await people()).toEqual([]);
  await prepareFirstUser(console.deps, { ...settings, adminPassword: "given by the settings" });
  expect(await people()).toEqual([{ email: "admin@example.org", role: "owner" }]);
  expect((await setUp(code ?? "")).status).toBe(410);
  await prepareFirstUser(console.deps, { ...settings, adminPassword: null });
  expect(console.lines.filter(({ event }) => event === "first_user.link")).toHaveLength(1);
});
