import { expect, test } from "vitest";
import { claimWebhooks, storePayloads } from "#server/delivery/webhooks/queue";
import { newId } from "#server/platform/ids";
import { evaluateAlerts } from "#server/services/alerts/evaluate";
import { presentErasure } from "#server/services/erasures/request";
import { pauseQueue, resumeQueue } from "#server/services/pauses/pause";
import { renderPayloads } from "#server/services/webhooks/events/render";
import { ANN, createErasureWorld, ERASED } from "../support/erasure-world";
import { forEachTest } from "../support/fixtures";

const world = forEachTest(createErasureWorld);

const base64 = (text: string | Uint8Array) => Buffer.from(text).toString("base64");

/** The second pass, if everything was created long before the first one. */
async function runLaterPass() {
  await world.hot`update erasures set floor = 'ffffffff-ffff-ffff-ffff-ffffffffffff' where pass = 2`;
  await world.elapse("2 min");
  await world.runErasures();
  expect(await world.erasure()).toMatchObject({ status: "done" });
}

test("text files of emails to others are searched, and the other files are counted", async () => {
  const upper = Buffer.from(`\xe9t\xe9 Ann.Lee@Example.net`, "latin1");
  const id = await world.sendMail({
    to: "ben@example.net",
    subject: "Report",
    html: "<p>Attached</p>",
    attachments: [
      { filename: "list.csv", content: base64(`name,email\nLee,${ANN}\nRay,ben@example.net\n`) },
      { filename: "old.txt", content: base64(upper) },
      { filename: "joann.txt", content: base64("joann.lee@example.net") },
      { filename: "report.pdf", content: base64("%PDF-1.7 compressed") },
      { filename: "large.txt", content: base64("x".repeat(1_100_000)) },
    ],
  });
  await world.sendMail({ to: ANN, attachments: [{ filename: "own.pdf", content: base64("%PDF") }] });
  await world.deliver();
  await world.erase();
  const erasure = await world.erasure();
  expect(erasure && presentErasure(erasure)).toMatchObject({
    status: "done",
    counts: { attachments: 3 },
    files_not_searched: 2,
  });
  const files = await world.hot<{ filename: string; content: Uint8Array; isSized: boolean }[]>`
    select filename, content, size_bytes = octet_length(content) as "isSized" from attachments
    where email_id = ${id} order by position`;
  const [list, old, joann] = files.map(({ content }) => Buffer.from(content).toString("latin1"));
  expect(list).toBe(`name,email\nLee,${ERASED}\nRay,ben@example.net\n`);
  expect(old).toBe(`\xe9t\xe9 ${ERASED}`);
  expect(joann).toBe("joann.lee@example.net");
  expect(files.every(({ isSized }) => isSized)).toBe(true);
  expect(await world.tablesWith(ANN)).toEqual([]);
});

test("a submitted message to others that contains the address in other letters or escaped is deleted, its texts stay", async () => {
  const ids: string[] = [];
  for (const text of [
    "X-Contact: Ann.Lee@EXAMPLE.net",
    "X-Contact: ann.lee=40example.net",
    "X-Other: nobody",
  ]) {
    const id = await world.sendMail({ to: "ben@example.net", subject: "Hi", html: "<p>Hi</p>" });
    await world.hot`
      update email_bodies set raw = ${Buffer.from(`Subject: Hi\r\n${text}\r\n\r\nHi\0\xff`, "latin1")} where email_id = ${id}`;
    ids.push(id);
  }
  await world.deliver();
  await world.hot`delete from captured_messages`;
  await world.erase();
  const left = await world.hot<{ id: string; html: string }[]>`
    select email_id as id, html from email_bodies where raw is not null`;
  expect(left.map(({ id }) => id)).toEqual(ids.slice(2));
  expect((await world.email(ids[0] ?? "")).html).toBe("<p>Hi</p>");
});

test("an event that is rendered during the erasure is not stored after it", async () => {
  const sink = await world.sink();
  await world.endpoint(sink, ["email.sent", "suppression.added"]);
  await world.hot`update webhooks set paused_until = now() + interval '1 hour'`;
  await world.sendMail({ to: ANN });
  await world.deliver();
  await world.ok("POST", "/api/suppressions", { email: ANN });
  await world.deps.requestLog.flush();
  await world.hot`update webhooks set paused_until = null`;
  const claims = await claimWebhooks(world.hot, newId(), { healthy: 10, failing: 1 }, new Map());
  const bodies = await renderPayloads(world.hot, claims);
  expect([...bodies.values()].filter((body) => body.includes(ANN))).toHaveLength(2);
  await world.requestErasure();
  await world.runErasures();
  await storePayloads(
    world.hot,
    claims.map((claim) => ({ ...claim, payload: bodies.get(claim.id) ?? "" })),
  );
  await runLaterPass();
  expect(await world.tablesWith(ANN)).toEqual([]);
  // The events are sent after the lease, from what is left.
  await world.round();
  expect(sink.received.map(({ body }) => body.includes(ERASED))).toEqual([true, true]);
  expect(JSON.stringify(sink.received)).not.toContain(ANN);
});

test("a response to an event that arrives during the erasure is not stored after it", async () => {
  const sink = await world.sink(async ({ body }, nth) => {
    if (nth === 1) {
      await world.deps.requestLog.flush();
      await world.requestErasure();
      await world.runErasures();
    }
    return { status: 500, body };
  });
  await world.endpoint(sink, ["email.sent"]);
  await world.sendMail({ to: ANN });
  await world.deliver();
  await world.round();
  expect(sink.received[0]?.body).toContain(ANN);
  await runLaterPass();
  expect(await world.tablesWith(ANN)).toEqual([]);
});

test("a response that repeats an email to others is erased with the email, even if the event is old", async () => {
  const sink = await world.sink(({ body }) => ({ status: 500, body }));
  await world.endpoint(sink, ["email.sent"]);
  await world.sendMail({ to: "ben@example.net", subject: `About ${ANN}` });
  await world.sendMail({ to: "ben@example.net", subject: "About joann.lee@example.net" });
  await world.deliver();
  await world.round();
  expect(await world.tablesWith(ANN)).toContain("webhook_attempts");
  await world.requestErasure();
  // As in a later pass of an erasure that waited for the email.
  await world.hot`
    update erasures set pass = 5, place = 'waiting', floor = 'ffffffff-ffff-ffff-ffff-ffffffffffff',
      waiting_ids = array(select id from emails where subject like 'About ann%')`;
  await world.runErasures();
  expect(await world.tablesWith(ANN)).not.toContain("webhook_attempts");
  const left = await world.hot`select from webhook_attempts where response like '%joann%'`;
  expect(left).toHaveLength(1);
});

test("the events of an email to a similar address keep their bodies", async () => {
  const sink = await world.sink();
  const { id: endpoint } = await world.endpoint(sink, ["email.sent"]);
  await world.sendMail({ to: "joann.lee@example.net", subject: "Hi Jo" });
  await world.deliver();
  await world.round();
  await world.erase();
  expect((await world.erasure())?.counts).not.toHaveProperty("webhook_deliveries");
  const [row] = await world.hot<{ payload: string | null }[]>`
    select payload from webhook_deliveries where webhook_id = ${endpoint} and payload is not null`;
  expect(row?.payload).toContain("joann.lee@example.net");
});

test("the reason of a pause is also erased in the alert that repeats it", async () => {
  await pauseQueue(world.ctx, { teamId: world.id, domain: null, reason: `Requested by Ann <${ANN}>` });
  await evaluateAlerts(world.deps);
  await resumeQueue(world.ctx, { teamId: world.id, domain: null });
  await world.elapse("1 hour");
  await evaluateAlerts(world.deps);
  expect(await world.tablesWith(ANN)).toEqual(expect.arrayContaining(["alerts", "queue_pauses"]));
  await world.erase();
  expect(await world.tablesWith(ANN)).toEqual([]);
  const [alert] = await world.hot<
    { message: string }[]
  >`select message from alerts where kind = 'team_paused'`;
  expect(alert?.message).toBe(`Sending is paused for the team First. Reason: Requested by Ann <${ERASED}>`);
});
