import { beforeEach, expect, test } from "vitest";
import { forEachTest } from "../support/fixtures";
import { deliverDue } from "../support/pump-engine";
import { startTestInternet } from "../support/servers/test-internet";
import { createWebhookWorld } from "../support/webhook-world";

let lines: { event: string; facts: unknown }[];
const record = (event: string, facts: unknown = {}) => void lines.push({ event, facts });
const world = forEachTest(() =>
  createWebhookWorld({
    transportKind: "direct",
    log: { info: record, warn: record, error: record },
  }),
);
const internet = forEachTest(() =>
  startTestInternet({
    "closed.example": { mx: [[10, "mx.closed.example"]] },
    "mx.closed.example": { a: ["127.0.0.9"] },
    "nowhere.example": { a: ["255.255.255.255"] },
    "inside.example": { a: ["10.0.0.1"] },
    "cut.example": { a: ["127.0.0.2"] },
    "ours.example": { a: ["127.0.0.2"] },
  }),
);
beforeEach(async () => {
  lines = [];
});

test("failure reasons contain no address of this machine or of the internal network", async () => {
  await internet.serve("127.0.0.2", { greeting: { bye: "421 4.3.2 later" } });
  const sink = await world.sink();
  const hook = await world.endpoint(sink, [
    "email.delivery_delayed",
    "email.failed",
    "email.bounced",
    "email.unknown",
  ]);
  const transport = internet.transport({
    canConnectTo: (address) => !address.startsWith("10."),
    findStsPolicy: async (domain) => {
      if (domain === "ours.example")
        throw Object.assign(new Error("connect ECONNREFUSED 10.9.8.7:5432"), { code: "ECONNREFUSED" });
      return null;
    },
  });
  const to = ["closed", "nowhere", "inside", "cut", "ours"].map((name) => `ann@${name}.example`);
  // One email each, because a fault on our side applies to all recipients of a transaction.
  const ids: string[] = [];
  for (const address of to) ids.push(await world.sendByApi({ from: "ann@example.org", to: address }));
  await deliverDue({ ...world.worker, transport });
  await world.round();

  const reasons: Record<string, unknown> = {};
  const pages: string[] = [];
  for (const [n, id] of ids.entries()) {
    const email = await world.ok("GET", `/api/emails/${id}`);
    const [recipient] = email.recipients as Record<string, unknown>[];
    reasons[to[n] ?? ""] = recipient?.reason;
    pages.push(JSON.stringify(email));
  }
  expect(reasons).toEqual({
    "ann@closed.example": `Could not connect to mx.closed.example port ${internet.port}: connection refused (ECONNREFUSED).`,
    "ann@nowhere.example": expect.stringMatching(
      /^Could not connect to nowhere\.example port \d+: .*\((ENETUNREACH|EACCES|EHOSTUNREACH)\)\.$/,
    ),
    "ann@inside.example": "inside.example has no public IP address.",
    "ann@cut.example": expect.stringContaining("421"),
    "ann@ours.example":
      "The delivery failed because of an internal error. The operator's log contains the cause.",
  });
  pages.push(JSON.stringify(await world.ok("GET", "/api/email-events?limit=100")));
  const events = await world.eventsOf(hook.id);
  expect(events.length).toBeGreaterThanOrEqual(5);
  pages.push(JSON.stringify(events), ...sink.received.map(({ body }) => String(body)));
  const all = pages.join("\n");
  for (const secret of ["127.0.0.9", "127.0.0.2", "255.255", "10.0.0.1", "10.9.8.7", "0.0.0.0", "Local ("])
    expect(all).not.toContain(secret);
  expect(lines).toContainEqual({
    event: "transport.failed",
    facts: expect.objectContaining({ emailId: ids[4], code: "ECONNREFUSED" }),
  });
});
