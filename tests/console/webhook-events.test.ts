import { describe, expect, test } from "vitest";
import { refused } from "../support/rejected";
import type { SinkReply } from "../support/servers/http-sink";
import { openWebhookApp } from "./webhook-app";

const { console, ann, asAdmin, endpoint, get, deliveries, round, sendTest } = await openWebhookApp();
const entriesOf = (subject: string, action: string) => ann.audit({ subject, action });
const retriesOf = (id: string) => entriesOf(id, "webhook.retried");

type Part = { count: number; next: string | null };
/** The counts of all parts of a command; its parts are at most four. */
async function runParts(procedure: string, input: object, between = async () => {}): Promise<number[]> {
  const counts: number[] = [];
  for (let next: string | null = null; counts.length < 4; ) {
    const part: Part = await asAdmin<Part>(procedure, { ...input, next });
    counts.push(part.count);
    next = part.next;
    if (next === null) break;
    await between();
  }
  return counts;
}
/** More events than one part, one per second from this time on. */
const firstAt = "2026-03-01T00:00:00.000Z";
const addMany = (id: string, status: "failed" | "pending") => console.world.hot`
  insert into webhook_deliveries (id, team_id, webhook_id, type, payload, status, created_at, due_at)
  select uuid_v7(), team_id, id, 'email.delivered', '{}', ${status},
    ${firstAt}::text::timestamptz + n * interval '1 s', now() + interval '1 hour'
  from webhooks, generate_series(1, 5100) as n where id = ${id}`;

describe("a retry of all pending events", () => {
  test("sends each now, continues its schedule, and is one line of the audit log with the count", async () => {
    let answer: SinkReply = 500;
    const { id, url, sink } = await endpoint(() => answer);
    const { id: other } = await endpoint(() => 500);
    for (let n = 0; n < 3; n++) await sendTest(id);
    await sendTest(other);
    // An endpoint that fails gets one event at a time.
    for (let n = 0; n < 4; n++) {
      await round();
      // The first retry is due in seconds, which may pass before the next round.
      await console.world.hot`
        update webhook_deliveries set due_at = now() + interval '1 hour' where attempts > 0`;
    }
    expect(await get(id)).toMatchObject({ waiting: 3 });
    const before = sink.received.length;
    await round();
    expect(sink.received).toHaveLength(before);
    const [untouched] = await deliveries(other);

    answer = 204;
    expect(await asAdmin("retryPending", { id })).toEqual({ count: 3, next: null });
    for (let n = 0; n < 3; n++) await round();
    expect(sink.received).toHaveLength(before + 3);
    expect(await deliveries(id)).toMatchObject(Array(3).fill({ status: "success", attempts: 2 }));
    expect(await retriesOf(id)).toMatchObject([{ subjectName: url, detail: { count: 3 } }]);
    expect(await deliveries(other)).toEqual([untouched]);

    expect(await asAdmin("retryPending", { id })).toEqual({ count: 0, next: null });
    expect(await retriesOf(id)).toHaveLength(1);
  });

  test("in parts makes each due once, although some fail again meanwhile, and is one line with the sum", async () => {
    const [{ id, url }, other] = [await endpoint(), await endpoint()];
    await addMany(id, "pending");
    await sendTest(other.id);
    await console.world.hot`
      update webhook_deliveries set due_at = now() + interval '1 hour' where webhook_id = ${other.id}`;
    const between = async () => {
      await console.world.hot`
        update webhook_deliveries set due_at = now() + interval '2 hours', attempts = 1
        where webhook_id = ${id} and due_at <= now()`;
      // Another command of the same user.
      await asAdmin("retryPending", { id: other.id });
    };
    expect(await runParts("retryPending", { id }, between)).toEqual([5_000, 100]);
    expect(await retriesOf(id)).toMatchObject([{ subjectName: url, detail: { count: 5_100 } }]);
    expect(await retriesOf(other.id)).toMatchObject([{ detail: { count: 1 } }]);
    await asAdmin("retryPending", { id });
    expect((await retriesOf(id)).map(({ detail }) => detail.count)).toEqual([5_100, 5_000]);
  });
});

describe("a replay of a range in parts", () => {
  const until = "2026-03-02T00:00:00.000Z";
  const range = { since: firstAt, until, status: "failed", type: null };

  test("continues at the next event, and is one line of the audit log with the whole range and the sum", async () => {
    const { id, url } = await endpoint();
    await addMany(id, "failed");
    expect(await runParts("replayRange", { id, ...range })).toEqual([5_000, 100]);
    const entry = { subjectName: url, detail: { ...range, count: 5_100 } };
    expect(await entriesOf(id, "webhook.replayed")).toMatchObject([entry]);
    expect(await asAdmin("replayRange", { id, ...range })).toEqual({ count: 0, next: null });
    expect(await entriesOf(id, "webhook.replayed")).toHaveLength(1);
  });

  test.each(["replayRange", "retryPending"])(
    "a place of another form is rejected by %s",
    async (procedure) => {
      const { id } = await endpoint();
      const input = { id, ...(procedure === "replayRange" && range), next: "e30" };
      expect(await ann.call("admin", `webhooks.${procedure}`, input)).toMatchObject(
        refused(/^Start the re(play|try) again/),
      );
    },
  );
});

describe("the email of an event", () => {
  const sendEmail = () =>
    console.world.send(
      { sender: "ann@backstamp.test", to: ["delivered@backstamp.test"], subject: "Your invoice" },
      ann.ctx,
    );

  test("is part of each row and of the page of the event, with its current status", async () => {
    const { id } = await endpoint();
    const { id: emailId } = await sendEmail();
    await round();
    await sendTest(id);
    const [tested, sent] = await deliveries(id);
    expect(tested).toMatchObject({ isTest: true, hasEmail: false, email: null });
    expect(await asAdmin("delivery", { id, event: tested?.id })).toMatchObject({ isTest: true });
    const email = {
      id: emailId,
      recipient: "delivered@backstamp.test",
      subject: "Your invoice",
      status: "delivered",
    };
    expect(sent).toMatchObject({ isTest: false, hasEmail: true, email });
    expect(await asAdmin("delivery", { id, event: sent?.id })).toMatchObject({ email });
    await console.world.hot`update emails set status = 'complained' where id = ${emailId}`;
    expect((await deliveries(id))[1]).toMatchObject({ email: { status: "complained" } });
  });

  test("that is no longer retained is missing, and the event is still listed", async () => {
    const { id } = await endpoint();
    const { id: emailId } = await sendEmail();
    await round();
    await console.world.hot`delete from emails where id = ${emailId}`;
    expect(await deliveries(id)).toMatchObject([{ hasEmail: true, email: null, status: "success" }]);
  });
});
