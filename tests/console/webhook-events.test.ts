import { and, asc, eq } from "drizzle-orm";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { auditLog } from "#db/schema/audit";
import { tick } from "#server/delivery/tick";
import type { DeliveryRow, EndpointView } from "#server/trpc/webhooks/views";
import { type Console, openConsole } from "../support/console/console";
import { createRoleTeam, type RoleTeam } from "../support/console/role-teams";
import { type HttpSink, type SinkReply, startHttpSink } from "../support/servers/http-sink";

let console: Console;
let ann: RoleTeam;
let sinks: HttpSink[] = [];
beforeAll(async () => {
  console = await openConsole();
  ann = await createRoleTeam(console, "Ann's");
});
afterAll(() => console.close());
afterEach(async () => {
  await Promise.all(sinks.map((sink) => sink.close()));
  sinks = [];
});

const callAsAdmin = (procedure: string, input: object) => ann.call("admin", `webhooks.${procedure}`, input);
const asAdmin = async <Result>(procedure: string, input: object = {}): Promise<Result> => {
  const result = await callAsAdmin(procedure, input);
  if (!result.ok) throw new Error(`${procedure}: ${result.code} ${result.message}`);
  return result.data as Result;
};

/** A test server on loopback, and an endpoint with its URL. */
async function endpoint(reply: () => SinkReply = () => 204) {
  const sink = await startHttpSink(reply);
  sinks.push(sink);
  const url = `http://127.0.0.1:${sink.port}/hooks`;
  const { id } = await asAdmin<{ id: string }>("create", { url, events: ["email.delivered"] });
  return { id, url, sink };
}
const get = (id: string) => asAdmin<EndpointView>("get", { id });
const deliveries = async (id: string) => (await asAdmin<{ rows: DeliveryRow[] }>("deliveries", { id })).rows;
const round = () => tick(console.world.withTransport(), { budgetMs: 10_000 });
const sendTest = (id: string) => asAdmin<{ id: string }>("test", { id, type: "email.delivered" });
const retriesOf = (id: string) =>
  console.deps.db
    .select()
    .from(auditLog)
    .where(and(eq(auditLog.subjectId, id), eq(auditLog.action, "webhook.retried")))
    .orderBy(asc(auditLog.id));

describe("a retry of all pending events", () => {
  test("sends each now, continues its schedule, and is one line of the audit log with the count", async () => {
    let answer: SinkReply = 500;
    const { id, url, sink } = await endpoint(() => answer);
    const { id: other } = await endpoint(() => 500);
    for (let n = 0; n < 3; n++) await sendTest(id);
    await sendTest(other);
    for (let n = 0; n < 4; n++) await round();
    expect(await get(id)).toMatchObject({ waiting: 3 });
    const before = sink.received.length;
    await round();
    expect(sink.received).toHaveLength(before);
    const [untouched] = await deliveries(other);

    answer = 204;
    expect(await asAdmin("retryPending", { id })).toEqual({ count: 3, hasMore: false });
    for (let n = 0; n < 3; n++) await round();
    expect(sink.received).toHaveLength(before + 3);
    expect(await deliveries(id)).toMatchObject(Array(3).fill({ status: "success", attempts: 2 }));
    expect(await retriesOf(id)).toMatchObject([{ subjectName: url, detail: { count: 3 } }]);
    expect(await deliveries(other)).toEqual([untouched]);

    expect(await asAdmin("retryPending", { id })).toEqual({ count: 0, hasMore: false });
    expect(await retriesOf(id)).toHaveLength(1);
  });

  test("is rejected for a paused endpoint", async () => {
    const { id } = await endpoint();
    await sendTest(id);
    await asAdmin("update", { id, status: "disabled" });
    expect(await callAsAdmin("retryPending", { id })).toMatchObject({ code: "CONFLICT" });
    expect(await retriesOf(id)).toEqual([]);
  });
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
    expect(tested).toMatchObject({ hasEmail: false, email: null });
    const email = {
      id: emailId,
      recipient: "delivered@backstamp.test",
      subject: "Your invoice",
      status: "delivered",
    };
    expect(sent).toMatchObject({ hasEmail: true, email });
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

test("an endpoint has the number of its failed events", async () => {
  const { id } = await endpoint();
  await sendTest(id);
  await sendTest(id);
  expect(await get(id)).toMatchObject({ failed: 0 });
  await console.world.hot`update webhook_deliveries set status = 'failed' where webhook_id = ${id}`;
  expect(await get(id)).toMatchObject({ failed: 2 });
  expect((await asAdmin<EndpointView[]>("list")).find((each) => each.id === id)).toMatchObject({ failed: 2 });
});
