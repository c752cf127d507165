import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createWorld, type World } from "../support/world";

type Entry = { email: string; origin: string; source_id: string | null; lists_only: boolean };

let world: World;
let token: string;
beforeAll(async () => {
  world = await createWorld();
  ({ token } = await world.key());
});
afterAll(() => world.close());
beforeEach(async () => {
  await world.deps.hot`delete from suppressions`;
});

const download = async () => (await world.api("GET", "/api/suppressions/csv", { token })).text;
const upload = (raw: string, by = token) =>
  world.api("POST", "/api/suppressions/csv", { token: by, raw, headers: { "content-type": "text/csv" } });

async function entries(by = token): Promise<Entry[]> {
  const { body } = await world.api("GET", "/api/suppressions?limit=100", { token: by });
  return (body.data as Entry[])
    .map(({ email, origin, source_id, lists_only }) => ({ email, origin, source_id, lists_only }))
    .sort((a, b) => a.email.localeCompare(b.email));
}

/** One entry of each kind, including one with a source email of the team. */
async function fill(): Promise<string> {
  const newEmail = { from: "ann@backstamp.test", to: "bounced@backstamp.test", subject: "Hello", html: "x" };
  const { body } = await world.api("POST", "/api/emails", { token, body: newEmail });
  await world.deps.hot`
    insert into suppressions (team_id, id, address, origin, source_email_id, lists_only) values
      (${world.id}, gen_random_uuid(), 'a@example.com', 'bounce', ${String(body.id)}, false),
      (${world.id}, gen_random_uuid(), 'b@example.com', 'complaint', null, false),
      (${world.id}, gen_random_uuid(), 'c@example.com', 'manual', null, true),
      (${world.id}, gen_random_uuid(), 'd@example.com', 'manual', null, false)`;
  return String(body.id);
}

test("an exported list can be imported with the origin, source and scope of every entry", async () => {
  const source = await fill();
  const before = await entries();
  const file = await download();
  expect(file.split("\r\n")[0]).toBe("email,origin,source_id,lists_only,created_at");
  await world.deps.hot`delete from suppressions`;
  expect((await upload(file)).body).toMatchObject({ added: 4, existing: 0, faulty: 0 });
  expect(await entries()).toEqual(before);
  expect(before[0]).toEqual({
    email: "a@example.com",
    origin: "bounce",
    source_id: source,
    lists_only: false,
  });

  // Another team does not have this email, so the source is dropped.
  const other = await world.otherTeam();
  const foreign = (await other.key()).token;
  await upload(file, foreign);
  expect(await entries(foreign)).toEqual(before.map((entry) => ({ ...entry, source_id: null })));
});

test("an existing entry keeps its origin, and an import never narrows its scope", async () => {
  await fill();
  const before = await entries();
  const file =
    "email,origin,lists_only\na@example.com,manual,true\nc@example.com,bounce,true\nd@example.com,complaint,true\n";
  expect((await upload(file)).body).toMatchObject({ added: 0, existing: 3 });
  expect(await entries()).toEqual(before);
  // Without the column an entry blocks all email, as a manual entry does.
  await upload("email\nc@example.com\n");
  expect((await entries()).find(({ email }) => email === "c@example.com")?.lists_only).toBe(false);
});

test("without a heading for the address, the first line is data, and only the first column is read", async () => {
  const { body } = await upload("recipient,origin\ni@example.com,unsubscribed\nj@example.com,bounce\n");
  expect(body).toMatchObject({ added: 2, faulty: 1, faults: [{ line: 1 }] });
  const added = (await entries()).filter(({ email }) => /^[ij]@/.test(String(email)));
  expect(added.map(({ origin }) => origin)).toEqual(["manual", "manual"]);
});

test("reasons from other services' files are recognized, and an invalid origin is reported with its line", async () => {
  const file = [
    "EmailAddress;Reason",
    "a@example.com;BOUNCE",
    "b@example.com;SpamComplaint",
    "c@example.com;HardBounce",
    "d@example.com;550 5.1.1 no such user",
  ];
  expect((await upload(`${file.join("\n")}\n`)).body).toMatchObject({ added: 4, faulty: 0 });
  expect((await entries()).map(({ origin }) => origin)).toEqual(["bounce", "complaint", "bounce", "manual"]);

  const odd =
    "email,origin,source_id,lists_only\ne@example.com,spam,,\nf@example.com,,1,\ng@example.com,,,maybe\nh@example.com,,,\n";
  expect((await upload(odd)).body).toMatchObject({
    added: 1,
    faulty: 3,
    faults: [
      { line: 2, message: expect.stringMatching(/`origin`.*bounce, complaint, manual/) },
      { line: 3, message: expect.stringMatching(/`source_id`/) },
      { line: 4, message: expect.stringMatching(/`lists_only`.*true or false/) },
    ],
  });
  expect((await entries()).find(({ email }) => email === "h@example.com")?.origin).toBe("manual");
});
