import { beforeEach, expect, test } from "vitest";
import type { CallOptions } from "../support/rest";
import { openWorld } from "../support/world";

type Entry = {
  email: string;
  origin: string;
  source_id: string | null;
  lists_only: boolean;
  lists: string[] | null;
};

const world = await openWorld();
const { token } = await world.key();
beforeEach(async () => {
  await world.hot`delete from suppressions`;
});

const download = async () => (await world.api("GET", "/api/suppressions/csv", { token })).text;
const upload = (raw: string | Uint8Array, by = token, headers: CallOptions["headers"] = {}) =>
  world.api("POST", "/api/suppressions/csv", {
    token: by,
    raw,
    headers: { "content-type": "text/csv", ...headers },
  });

async function entries(by = token): Promise<Entry[]> {
  const { body } = await world.api("GET", "/api/suppressions?limit=100", { token: by });
  return (body.data as Entry[])
    .map(({ email, origin, source_id, lists_only, lists }) => ({
      email,
      origin,
      source_id,
      lists_only,
      lists,
    }))
    .sort((a, b) => a.email.localeCompare(b.email));
}

/** One entry of each kind, including one with a source email of the team. */
async function fill(): Promise<string> {
  const newEmail = { from: "ann@backstamp.test", to: "bounced@backstamp.test", subject: "Hello", html: "x" };
  const { body } = await world.api("POST", "/api/emails", { token, body: newEmail });
  await world.hot`
    insert into suppressions (team_id, id, address, origin, source_email_id, lists_only, lists) values
      (${world.id}, gen_random_uuid(), 'a@example.com', 'bounce', ${String(body.id)}, false, null),
      (${world.id}, gen_random_uuid(), 'b@example.com', 'complaint', null, false, null),
      (${world.id}, gen_random_uuid(), 'c@example.com', 'unsubscribe', null, true, '{News,Product news}'),
      (${world.id}, gen_random_uuid(), 'd@example.com', 'manual', null, false, null)`;
  return String(body.id);
}

test("an exported list can be imported with the origin, source and scope of every entry", async () => {
  const source = await fill();
  const before = await entries();
  const file = await download();
  expect(file.split("\r\n")[0]).toBe("email,origin,source_id,lists_only,created_at,lists");
  await world.hot`delete from suppressions`;
  expect((await upload(file)).body).toMatchObject({ added: 4, existing: 0, faulty: 0 });
  expect(await entries()).toEqual(before);
  expect(before[0]).toEqual({
    email: "a@example.com",
    origin: "bounce",
    source_id: source,
    lists_only: false,
    lists: null,
  });
  expect(before[2]).toMatchObject({ origin: "unsubscribe", lists: ["News", "Product news"] });

  // Another team does not have this email, so the source is dropped.
  const other = await world.otherTeam();
  const foreign = (await other.key()).token;
  await upload(file, foreign);
  expect(await entries(foreign)).toEqual(before.map((entry) => ({ ...entry, source_id: null })));
});

test("the complete list is exported, oldest first, safe for spreadsheets, and is the same in another team", async () => {
  const odd = ["=1+1@example.com", "+a@example.com", "-a@example.com", "'=b@example.com", "'c@example.com"];
  for (const email of ["ann@example.com", ...odd])
    await world.api("POST", "/api/suppressions", { token, body: { email } });
  await world.hot`update suppressions set created_at = now() - interval '1 year' where address = 'ann@example.com'`;
  const file = await world.api("GET", "/api/suppressions/csv", { token });
  expect(file.headers["content-type"]).toMatch(/^text\/csv/);
  expect(file.headers["content-disposition"]).toBe('attachment; filename="suppressions.csv"');
  const lines = file.text.split("\r\n");
  expect(lines.slice(1).map((line) => line.split(",")[0])).toEqual([
    "ann@example.com",
    "'=1+1@example.com",
    "'+a@example.com",
    "'-a@example.com",
    "''=b@example.com",
    "'c@example.com",
    "",
  ]);
  expect(lines[1]).toMatch(/^ann@example\.com,manual,,false,\d{4}-/);
  const foreign = (await (await world.otherTeam()).key()).token;
  expect((await upload(file.text, foreign)).body).toMatchObject({ added: 6, faulty: 0 });
  expect((await world.api("GET", "/api/suppressions/csv", { token: foreign })).text).toBe(file.text);
});

test("the report counts what was added, changed, already there, repeated and invalid", async () => {
  await fill();
  const file = [
    "email,origin,lists_only,created_at",
    "a@example.com,manual,,",
    "c@example.com,manual,false,",
    "new@example.com,complaint,true,2024-05-06T07:08:09.000Z",
    "New@Example.com,bounce,false,2024-05-07T07:08:09.000Z",
    "new@example.com,manual,false,",
    "odd@example.com,manual,,last week",
    "nobody,,,",
  ];
  const { body } = await upload(`${file.join("\n")}\n`);
  expect(body).toEqual({
    object: "suppression_import",
    added: 2,
    added_by_origin: { bounce: 1, complaint: 0, unsubscribe: 0, manual: 1 },
    changed: 1,
    existing: 1,
    repeated: 2,
    unknown_reasons: 0,
    unread_dates: 1,
    faulty: 1,
    faults: [{ line: 8, message: expect.stringMatching(/\S{5}/) }],
  });
  // The line that blocks all email counts.
  expect(await download()).toContain("new@example.com,bounce,,false,2024-05-07T07:08:09.000Z");
  const again = await upload(`${file.join("\n")}\n`);
  expect(again.body).toMatchObject({ added: 0, changed: 0, existing: 4, repeated: 2 });
  const audit = await world.hot`
    select detail from audit_log where team_id = ${world.id} and action = 'suppression.imported' order by id desc limit 1`;
  expect(audit).toEqual([{ detail: { count: 2, changed: 1 } }]);
});

const PROVIDER_FILES: Record<string, { lines: string[]; read: string }> = {
  Postmark: {
    lines: [
      "EmailAddress,SuppressionReason,Origin,CreatedAt",
      "x@example.com,ManualSuppression,Recipient,2024-05-06T03:08:09-04:00",
      "y@example.com,HardBounce,Recipient,2024-05-06T03:08:09-04:00",
    ],
    read: "x@example.com,unsubscribe,,true,2024-05-06T07:08:09.000Z, y@example.com,bounce,,false,2024-05-06T07:08:09.000Z,",
  },
  "Amazon SES": {
    lines: ["EmailAddress,Reason,LastUpdateTime", "x@example.com,COMPLAINT,2024-05-06T07:08:09.000Z"],
    read: "x@example.com,complaint,,false,2024-05-06T07:08:09.000Z,",
  },
  "Mailgun, bounces": {
    lines: [
      "address,code,error,created_at",
      'x@example.com,550,"5.1.1 No such user","Mon, 06 May 2024 07:08:09 UTC"',
    ],
    read: "x@example.com,bounce,,false,2024-05-06T07:08:09.000Z,",
  },
  "Mailgun, unsubscribes": {
    lines: [
      "address,tags,created_at",
      'x@example.com,"*",2024-05-06 07:08:09 UTC',
      'y@example.com,"news",2024-05-06 07:08:09 UTC',
    ],
    read: "x@example.com,unsubscribe,,false,2024-05-06T07:08:09.000Z, y@example.com,unsubscribe,,true,2024-05-06T07:08:09.000Z,",
  },
  SendGrid: {
    lines: ["status,reason,email,created", "5.1.1,550 no such user,x@example.com,1714979289"],
    read: "x@example.com,manual,,false,2024-05-06T07:08:09.000Z,",
  },
};

test.each(Object.keys(PROVIDER_FILES))("a file of %s keeps its reasons and times", async (name) => {
  const { lines, read } = PROVIDER_FILES[name] as { lines: string[]; read: string };
  const { body } = await upload(`${lines.join("\n")}\n`);
  expect(body).toMatchObject({ added: lines.length - 1, unread_dates: 0, faulty: 0 });
  // A bounce of SendGrid does not differ from a block, which it does not suppress.
  expect(body.unknown_reasons).toBe(name === "SendGrid" ? 1 : 0);
  expect((await download()).trim().split("\r\n").slice(1).join(" ")).toBe(read);
});

test("an existing entry keeps its origin, and an import never narrows its scope", async () => {
  await fill();
  const before = await entries();
  const file =
    "email,origin,lists_only,lists\na@example.com,manual,true,\nc@example.com,bounce,true,News\nd@example.com,complaint,true,\n";
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
  expect((await upload("ann@example.com\nben@example.com")).body).toMatchObject({ added: 2, faulty: 0 });
  expect((await upload("email\n")).body).toMatchObject({ added: 0, existing: 0, faulty: 0 });
});

test("a file of a spreadsheet program is read by line: byte order mark, semicolons, quotes, empty lines", async () => {
  const file =
    '\ufeffName;E-Mail\r\nAnn;Ann@example.com\r\n"Ben; B.";ben@example.net\r\n\r\nX;nonsense\r\nA;ANN@example.com\r\nZ;\r\n';
  expect((await upload(file)).body).toMatchObject({
    added: 2,
    repeated: 1,
    faulty: 2,
    faults: [
      { line: 5, message: expect.stringContaining("@") },
      { line: 7, message: expect.stringContaining("empty") },
    ],
  });
  expect((await entries()).map(({ email }) => email)).toEqual(["ann@example.com", "ben@example.net"]);
});

test.each<[name: string, raw: string | Uint8Array, status: number, message: RegExp]>([
  ["with an unclosed quote", `ann@example.com\n"${"x".repeat(20_000)}`, 422, /line|quotes/],
  ["with too many lines", "x\n".repeat(100_001), 422, /100,000/],
  ["that is not UTF-8", Buffer.from([0x61, 0x40, 0xff, 0x0a]), 400, /UTF-8/],
])("a file %s is rejected completely", async (_, raw, status, message) => {
  const good = Buffer.from("good@example.com\n");
  const reply = await upload(Buffer.concat([good, Buffer.from(raw)]));
  expect(reply).toMatchObject({ status, body: { message: expect.stringMatching(message) } });
  expect(await entries()).toEqual([]);
});

test("a file that is too large is rejected while it is read, and nothing is stored", async () => {
  const { bodyMaxBytes } = world.deps;
  world.deps.bodyMaxBytes = 10_000;
  const raw = "a@example.com\n".repeat(2_000);
  const chunked = { "transfer-encoding": "chunked", "content-length": [] };
  for (const headers of [{}, chunked]) expect((await upload(raw, token, headers)).status).toBe(413);
  world.deps.bodyMaxBytes = bodyMaxBytes;
  expect(await entries()).toEqual([]);
});

test("a file of more lines than one statement writes is imported and exported completely", async () => {
  const count = 5_010;
  const raw = Array.from({ length: count }, (_, n) => `r${n}@example.com`).join("\n");
  expect((await upload(raw)).body).toMatchObject({ added: count, existing: 0, faulty: 0 });
  expect(new Set((await download()).trim().split("\r\n").slice(1)).size).toBe(count);
});

test("an invalid origin, source or scope is reported with its line", async () => {
  const odd =
    "email,origin,source_id,lists_only,lists\ne@example.com,spam,,,\nf@example.com,,1,,\ng@example.com,,,maybe,\nh@example.com,,,,\ni@example.com,,,,News\n";
  expect((await upload(odd)).body).toMatchObject({
    added: 1,
    faulty: 4,
    faults: [
      { line: 2, message: expect.stringMatching(/`origin`.*bounce, complaint, unsubscribe, manual/) },
      { line: 3, message: expect.stringMatching(/`source_id`/) },
      { line: 4, message: expect.stringMatching(/`lists_only`.*true or false/) },
      { line: 6, message: expect.stringMatching(/`lists`.*`lists_only` true/) },
    ],
  });
  expect((await entries()).find(({ email }) => email === "h@example.com")?.origin).toBe("manual");
});
