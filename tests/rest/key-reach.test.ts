import { beforeEach, expect, test } from "vitest";
import { deliverDue } from "../support/pump-engine";
import type { Reply } from "../support/rest";
import { openWorld } from "../support/world";

const FORBIDDEN = {
  status: 403,
  text: '{"error":"Insufficient API key permissions"}',
  headers: {
    "x-backstamp-reason": expect.stringMatching(
      /^domain_not_linked;detail="This key is not linked to two\.example\.com/,
    ),
  },
};

let whole: string;
/** Linked only to one.example.com. */
let bound: { id: string; token: string };
const world = await openWorld({ transportKind: "capture" });
for (const name of ["one.example.com", "two.example.com"]) await world.domain(name);
beforeEach(async () => {
  await world.hot`delete from emails`;
  ({ token: whole } = await world.key());
  bound = await world.key({ domains: ["one.example.com"] });
});

const call = (token: string, method: string, path: string, body?: unknown) =>
  world.api(method, path, { token, body });
const round = () => deliverDue(world.withTransport());

async function send(domain: string, more: object = {}): Promise<string> {
  const newEmail = { from: `a@${domain}`, to: "ben@example.net", subject: "x", html: "x", ...more };
  const { status, body } = await call(whole, "POST", "/api/emails", newEmail);
  expect(status).toBe(200);
  return String(body.id);
}
/** An email whose only recipient has this final status. */
async function ended(domain: string, status: "failed" | "unknown"): Promise<string> {
  const id = await send(domain);
  await world.hot`update deliveries set status = ${status}, attempts = 1 where email_id = ${id}`;
  await world.hot`update emails set status = ${status} where id = ${id}`;
  return id;
}
const scheduled = (domain: string) => send(domain, { scheduled_at: "in 1 hour" });
const statusOf = async (id: string) => (await call(whole, "GET", `/api/emails/${id}`)).body.status;
/** Everything stored about an email: its rows, its events, and its entries in the audit log. */
const traceOf = async (id: string) =>
  Promise.all([
    world.hot`select * from emails where id = ${id}`,
    world.hot`select * from deliveries where email_id = ${id}`,
    world.hot`select count(*)::int n from email_events where email_id = ${id}`,
    world.hot`select count(*)::int n from audit_log where subject_id = ${id}`,
  ]);

const ACTS: [
  what: string,
  prepare: (domain: string) => Promise<string>,
  act: (token: string, id: string) => Promise<Reply>,
  after: string,
][] = [
  [
    "retried",
    (domain) => ended(domain, "failed"),
    (token, id) => call(token, "POST", `/api/emails/${id}/retry`),
    "queued",
  ],
  [
    "rescheduled",
    scheduled,
    (token, id) => call(token, "PATCH", `/api/emails/${id}`, { scheduled_at: "in 2 hours" }),
    "scheduled",
  ],
  ["canceled", scheduled, (token, id) => call(token, "POST", `/api/emails/${id}/cancel`), "canceled"],
  [
    "settled as sent",
    (domain) => ended(domain, "unknown"),
    (token, id) => call(token, "POST", `/api/emails/${id}/settle`, { as: "sent" }),
    "sent",
  ],
  [
    "settled by a retry",
    (domain) => ended(domain, "unknown"),
    (token, id) => call(token, "POST", `/api/emails/${id}/settle`, { as: "retry" }),
    "queued",
  ],
];

test.each(ACTS)("a key cannot get email of a domain without a link %s", async (_, prepare, act, after) => {
  const [mine, other] = [await prepare("one.example.com"), await prepare("two.example.com")];
  const before = await traceOf(other);
  expect(await act(bound.token, other)).toMatchObject(FORBIDDEN);
  expect(await traceOf(other)).toEqual(before);
  expect((await act(bound.token, mine)).status).toBe(200);
  expect(await statusOf(mine)).toBe(after);
  expect((await act(whole, other)).status).toBe(200);
  expect(await statusOf(other)).toBe(after);
});

test("the state of another domain's email is not revealed", async () => {
  const sent = await send("two.example.com");
  await round();
  for (const [, , act] of ACTS) expect(await act(bound.token, sent)).toMatchObject(FORBIDDEN);
});

test("another team's email is 404, and a new link takes effect immediately", async () => {
  const foreign = await (await world.otherTeam()).key({ domains: ["backstamp.test"] });
  const id = await scheduled("one.example.com");
  for (const [, , act] of ACTS) expect((await act(foreign.token, id)).status).toBe(404);
  const other = await scheduled("two.example.com");
  const [domain] = await world.hot<{ id: string }[]>`select id from domains where name = 'two.example.com'`;
  const link = `/api/api-keys/${bound.id}/domains/${domain?.id}`;
  expect((await call(whole, "PUT", link)).status).toBe(200);
  expect((await call(bound.token, "POST", `/api/emails/${other}/cancel`)).status).toBe(200);
  expect((await call(whole, "DELETE", link)).status).toBe(200);
});

test("a retry by filter affects only email of the key's domains", async () => {
  const mine: string[] = [];
  const others: string[] = [];
  for (let n = 0; n < 3; n++) {
    others.push(await ended("two.example.com", "failed"));
    mine.push(await ended("one.example.com", "failed"));
  }
  const before = await Promise.all(others.map(traceOf));
  const retried = await call(bound.token, "POST", "/api/emails/retry", { status: "failed" });
  expect(retried).toMatchObject({ status: 200, body: { has_more: false } });
  expect((retried.body.data as { id: string }[]).map(({ id }) => id).sort()).toEqual(mine);
  expect(await Promise.all(others.map(traceOf))).toEqual(before);
  const filter = { domain: "two.example.com" };
  expect(await call(bound.token, "POST", "/api/emails/retry", filter)).toMatchObject(FORBIDDEN);
  expect(await Promise.all(others.map(traceOf))).toEqual(before);
  const rest = await call(whole, "POST", "/api/emails/retry", filter);
  expect(rest.body.data).toHaveLength(3);
});

test("reading covers the whole team", async () => {
  const id = await send("two.example.com");
  expect((await call(bound.token, "GET", `/api/emails/${id}`)).status).toBe(200);
  const { body } = await call(bound.token, "GET", "/api/emails");
  expect((body.data as { id: string }[]).map((row) => row.id)).toEqual([id]);
});
