import { beforeEach, expect, test, vi } from "vitest";
import { forEachTest } from "../../support/fixtures";
import { createGate } from "../../support/gate";
import { createWebhookWorld } from "../../support/webhook-world";

const eventually = { timeout: 30_000, interval: 20 };

let lines: { event: string; code: unknown }[];
const record = (event: string, facts: Record<string, unknown> = {}) =>
  void lines.push({ event, code: facts.code });
const world = forEachTest(() =>
  createWebhookWorld({ log: { info: record, warn: record, error: record }, connectionsMax: 8 }),
);
beforeEach(async () => {
  lines = [];
});

test("deleting an endpoint while a failed attempt is recorded succeeds without a deadlock", async () => {
  const { hot } = world.deps;
  const [answer, row] = [createGate(), createGate()];
  const sink = await world.sink(async () => {
    await answer.passed;
    return 500;
  });
  const { id } = await world.endpoint(sink, ["email.queued"]);
  const other = await world.endpoint(sink, ["email.delivered"]);
  await world.sendByApi();
  const round = world.round();
  await sink.waitFor(1);

  // Both lock the endpoint's row, the deletion first.
  const held = createGate();
  const holder = hot.begin(async (tx) => {
    await tx`select from webhooks where id = ${id} for update`;
    held.open();
    await row.passed;
  });
  await held.passed;
  const waiting = async (count: number) =>
    vi.waitFor(async () => {
      const found = await hot`
        select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      expect(found.length).toBe(count);
    }, eventually);
  const deletion = world.api("DELETE", `/api/webhooks/${id}`, { token: world.token });
  await waiting(1);
  answer.open();
  await waiting(2);
  row.open();
  await holder;

  expect((await deletion).status).toBe(200);
  await round;
  expect(lines.filter(({ code }) => code === "40P01")).toEqual([]);
  expect((await world.api("GET", `/api/webhooks/${id}`, { token: world.token })).status).toBe(404);
  expect(await hot`select from webhook_deliveries where webhook_id = ${id}`).toEqual([]);
  await world.round();
  expect((await world.eventsOf(other.id)).map(({ type }) => type)).toEqual(["email.delivered"]);
});
