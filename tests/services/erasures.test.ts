import { expect, test } from "vitest";
import { listAudit } from "#server/services/audit/read";
import { runErasures } from "#server/services/erasures/run";
import { exportSuppressions } from "#server/services/suppressions/transfer";
import { recordVisit } from "#server/services/tracking/record";
import { endLeases, leaseEmail } from "../support/database/leases";
import { ANN, createErasureWorld, ERASED } from "../support/erasure-world";
import { forEachTest } from "../support/fixtures";

const world = forEachTest(createErasureWorld);
/** Continues the erasures after this interval. */
const runAfter = async (interval: string) => {
  await world.elapse(interval);
  await world.runErasures();
};

test("an address is erased in emails, bodies, files, events, logs, webhooks and suppressions, and no other person's data", async () => {
  const sink = await world.sink();
  const { id: endpoint } = await world.endpoint(sink, ["email.sent", "email.delivered", "suppression.added"]);
  const file = { filename: `${ANN} invoice.txt`, content: Buffer.from(`Dear ${ANN}`).toString("base64") };
  const alone = await world.sendMail({
    to: `"Lee, Ann" <${ANN}>`,
    subject: "Hi Ann",
    html: "<p>Hi Ann</p>",
    tags: [{ name: "user", value: "ann" }],
    headers: { "X-User": "ann" },
    attachments: [file],
  });
  const shared = await world.sendMail({
    to: ["Ann.Lee@example.net", "ben@example.net"],
    reply_to: `"Lee, Ann" <${ANN}>`,
    subject: "Hi all",
    html: "<p>all</p>",
  });
  const mention = await world.sendMail({
    to: "ben@example.net",
    reply_to: [`"Lee, Ann" <${ANN}>`, '"Ray, Ben" <ben@example.net>'],
    subject: `About ${ANN}`,
    html: `<p>Ask <a href="https://example.com/?u=ann.lee%40example.net">${ANN}</a>, not joann.lee@example.net.</p>`,
  });
  const other = await world.sendMail({ to: "joann.lee@example.net", subject: "Hi Jo", html: "<p>Hi Jo</p>" });
  await world.deliver();
  await world.round();
  const [delivery] = (await world.email(alone)).deliveries;
  await recordVisit(
    world.deps,
    { teamId: world.id, emailId: alone, deliveryId: delivery?.id ?? "" },
    { type: "email.clicked", link: "https://example.com/ann", address: "192.0.2.7", agent: "Browser" },
  );
  await world.ok("POST", "/api/suppressions", { email: ANN });
  await world.deps.requestLog.flush();
  await world.round();
  const usage = await world.ok("GET", "/api/usage");
  expect(await world.tablesWith(ANN)).toEqual(
    expect.arrayContaining([
      "api_requests",
      "attachments",
      "audit_log",
      "captured_messages",
      "deliveries",
      "email_bodies",
      "email_events",
      "emails",
      "suppressions",
      "webhook_deliveries",
    ]),
  );

  await world.erase();

  expect(await world.tablesWith(ANN)).toEqual([]);
  const gone = await world.email(alone);
  expect(gone).toMatchObject({
    to: [ERASED],
    subject: "(erased)",
    html: null,
    tags: [],
    headers: [],
    isErased: true,
  });
  expect(gone.deliveries).toMatchObject([{ address: ERASED, domain: "erased.invalid", status: "delivered" }]);
  expect(gone.status).toBe("delivered");
  expect(JSON.stringify(gone)).not.toMatch(/192\.0\.2\.7|example\.com\/ann|Ann/);
  expect(gone.events.map(({ type }) => type)).toContain("email.clicked");
  // The content is about this person; the other recipient's result is not.
  expect(await world.email(shared)).toMatchObject({
    to: [ERASED, "ben@example.net"],
    replyTo: [ERASED],
    isErased: true,
  });
  expect(await world.statuses(shared)).toEqual([`${ERASED} delivered`, "ben@example.net delivered"]);
  expect(await world.email(mention)).toMatchObject({
    to: ["ben@example.net"],
    replyTo: [ERASED, '"Ray, Ben" <ben@example.net>'],
    subject: `About ${ERASED}`,
    html: `<p>Ask <a href="https://example.com/?u=${ERASED}">${ERASED}</a>, not joann.lee@example.net.</p>`,
  });
  expect(await world.email(other)).toMatchObject({ subject: "Hi Jo", html: "<p>Hi Jo</p>", isErased: false });
  expect(await world.statuses(other)).toEqual(["joann.lee@example.net delivered"]);
  const events = await world.eventsOf(endpoint);
  expect(events.length).toBeGreaterThan(0);
  expect(JSON.stringify(events)).not.toContain(ANN);
  const requests =
    await world.hot`select request_body from api_requests where request_body::text like '%Ann%'`;
  expect(requests).toHaveLength(0);
  expect(await world.ok("GET", "/api/usage")).toEqual(usage);
});

test("the receipt has who, when and how much, and a hash instead of the address", async () => {
  await world.sendMail({ to: ANN });
  await world.deliver();
  const requested = await world.erase();
  expect(await world.erasure()).toMatchObject({
    id: requested.id,
    status: "done",
    addressHash: expect.stringMatching(/^erased-[0-9a-f]{40}@erased\.invalid$/),
    counts: { emails: 1, email_bodies: 1, deliveries: 1 },
    doneAt: expect.any(Date),
  });
  const { rows } = await listAudit(world.ctx, { limit: 10, action: "address" });
  expect(rows.map(({ action }) => action)).toEqual(["address.erased", "address.erasure_requested"]);
  expect(rows[0]).toMatchObject({
    actor: "operator",
    subjectId: requested.id,
    detail: { address_hash: requested.addressHash, emails: 1, deliveries: 1 },
  });
  expect(JSON.stringify(rows)).not.toContain("example.net");
});

test("an erased address stays suppressed, in each letter case, and can be released by its address", async () => {
  await world.ok("POST", "/api/suppressions", { email: ANN });
  await world.erase();
  let csv = "";
  for await (const part of exportSuppressions(world.ctx)) csv += part;
  expect(csv).toMatch(/erased-[0-9a-f]{40}@erased\.invalid/);
  const id = await world.sendMail({ to: ["ANN.Lee@Example.net", "ben@example.net"] });
  await world.deliver();
  expect(await world.statuses(id)).toEqual(["ANN.Lee@example.net suppressed", "ben@example.net delivered"]);
  const { data } = await world.ok("GET", `/api/suppressions?limit=10`);
  expect(data).toMatchObject([
    { email: expect.stringMatching(/^erased-/), origin: "manual", source_id: null },
  ]);
  await world.ok("GET", `/api/suppressions/${encodeURIComponent(ANN)}`);
  await world.ok("DELETE", `/api/suppressions/${encodeURIComponent(ANN)}`);
  const again = await world.sendMail({ to: ANN });
  await world.deliver();
  expect(await world.statuses(again)).toEqual([`${ANN} delivered`]);
});

test("a waiting email is canceled for the address at once; the other recipients get it, and then it is erased", async () => {
  const at = new Date(Date.now() + 3_600_000).toISOString();
  const id = await world.sendMail({ to: [ANN, "ben@example.net"], scheduled_at: at });
  await world.deps.requestLog.flush();
  await world.requestErasure();
  await world.runErasures();
  expect(await world.statuses(id)).toEqual([`${ANN} canceled`, "ben@example.net scheduled"]);
  await runAfter("2 min");
  expect(await world.erasure()).toMatchObject({ status: "running", waiting: 1 });
  await world.elapse("2 hours");
  await world.deliver();
  await runAfter("10 min");
  await runAfter("10 min");
  expect(await world.erasure()).toMatchObject({
    status: "done",
    waiting: 0,
    counts: { canceled: 1, emails: 1 },
  });
  expect(await world.statuses(id)).toEqual([`${ERASED} canceled`, "ben@example.net delivered"]);
  expect(await world.tablesWith(ANN)).toEqual([]);
});

test("a queued email is canceled for the address, and one in an SMTP dialogue is erased after its result", async () => {
  const queued = await world.sendMail({ to: ANN });
  const id = await world.sendMail({ to: ANN });
  await leaseEmail(world.hot, id);
  await world.requestErasure();
  await world.runErasures();
  expect(await world.statuses(id)).toEqual([`${ANN} sending`]);
  expect((await world.statuses(queued))[0]).toMatch(/ canceled$/);
  await endLeases(world.hot, id, "delivered");
  await runAfter("10 min");
  await runAfter("10 min");
  expect(await world.statuses(id)).toEqual([`${ERASED} delivered`]);
  expect(await world.erasure()).toMatchObject({ status: "done", waiting: 0 });
});

test("an interrupted erasure continues at its place and counts nothing twice", async () => {
  for (let n = 0; n < 3; n++) await world.sendMail({ to: ANN });
  await world.deliver();
  await world.requestErasure();
  // Each run ends after one step, as if the worker had been killed.
  for (let runs = 0; runs < 40 && (await world.erasure())?.status !== "done"; runs++) {
    let calls = 0;
    await runErasures(world.deps, () => calls++ < 4);
    await world.elapse("15 min");
  }
  expect(await world.erasure()).toMatchObject({ status: "done", counts: { emails: 3, deliveries: 3 } });
  expect(await world.tablesWith(ANN)).toEqual([]);
});

test("the second pass finds the records of the time of the first", async () => {
  await world.requestErasure();
  await world.runErasures();
  expect(await world.erasure()).toMatchObject({ status: "running", pass: 2 });
  await world.ok("POST", "/api/suppressions", { email: ANN });
  await world.sendMail({ to: ANN });
  await world.deliver();
  await runAfter("2 min");
  expect(await world.erasure()).toMatchObject({ status: "done" });
  expect(await world.tablesWith(ANN)).toEqual([]);
});

test("links and late reports of erased emails store nothing about the recipient", async () => {
  const id = await world.sendMail({ to: ANN, list_unsubscribe: true });
  await world.deliver();
  const [delivery] = (await world.email(id)).deliveries;
  await world.erase();
  const before = await world.rowCounts();
  const copy = { teamId: world.id, emailId: id, deliveryId: delivery?.id ?? "" };
  await recordVisit(world.deps, copy, { type: "email.opened", address: "192.0.2.7", agent: "Browser" });
  expect(await world.rowCounts()).toEqual(before);
  const link = world.deps.recipientTokens.unsubscribeLink({ teamId: world.id, emailId: id, address: ANN });
  const reply = await world.api("POST", new URL(link).pathname);
  expect(reply.status).toBe(200);
  expect(await world.tablesWith(ANN)).toEqual([]);
  const { data } = await world.ok("GET", "/api/suppressions?limit=10");
  expect(data).toMatchObject([{ email: expect.stringMatching(/^erased-/) }]);
});
