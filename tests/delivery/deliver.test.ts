import { describe, expect, test } from "vitest";
import { tick } from "#server/delivery/tick";
import { forEachTest } from "../support/fixtures";
import { deliverDue } from "../support/pump-engine";
import { createWorld } from "../support/world";

const world = forEachTest(() => createWorld());

const round = () => deliverDue(world.withTransport());
const typesOf = (email: { events: { type: string }[] }) => email.events.map(({ type }) => type);

describe("capture", () => {
  test("an email is stored once with the bytes that would be sent, and is delivered", async () => {
    const { id } = await world.send({ subject: "Grüße", to: ["ben@example.net", "cy@example.net"] });
    await tick(world.withTransport(), { budgetMs: 60_000 });
    const email = await world.email(id);
    expect(email.status).toBe("delivered");
    expect(email.deliveries.map(({ status, attempts }) => ({ status, attempts }))).toEqual([
      { status: "delivered", attempts: 1 },
      { status: "delivered", attempts: 1 },
    ]);
    expect(typesOf(email).sort()).toEqual(
      ["email.queued", "email.sent", "email.sent", "email.delivered", "email.delivered"].sort(),
    );
    const kept = await world.hot<{ raw: Uint8Array }[]>`select raw from captured_messages`;
    expect(kept).toHaveLength(1);
    expect(Buffer.from(kept[0]?.raw ?? "").toString()).toContain(`Message-ID: <${email.messageId}>`);
  });
});

describe("simulated recipients", () => {
  test("each simulated address has the outcome of its name", async () => {
    const names = ["delivered", "bounced", "complained", "suppressed", "slow", "unknownUser"];
    const { id } = await world.send({ to: names.map((name) => `${name}+x@backstamp.test`) });
    await round();
    const email = await world.email(id);
    expect(
      Object.fromEntries(email.deliveries.map((row) => [row.address.split("+")[0], row.status])),
    ).toEqual({
      delivered: "delivered",
      bounced: "bounced",
      complained: "complained",
      suppressed: "suppressed",
      slow: "delivered",
      unknownUser: "bounced",
    });
    expect(email.status).toBe("complained");
    expect(await world.hot`select 1 from captured_messages`).toHaveLength(0);
  });

  test("deferred is delivered on the third attempt, and each wait is recorded with its rule", async () => {
    const { id } = await world.send({ to: ["deferred@backstamp.test"] });
    for (let attempt = 1; attempt <= 3; attempt++) {
      await round();
      await world.elapse("10 seconds");
    }
    const email = await world.email(id);
    expect(email.deliveries[0]).toMatchObject({ status: "delivered", attempts: 3 });
    expect(typesOf(email)).toEqual([
      "email.queued",
      "email.delivery_delayed",
      "email.delivery_delayed",
      "email.sent",
      "email.delivered",
    ]);
    expect(email.events[1]?.data).toMatchObject({ attempt: 1, rule: "retry_schedule", reply: { code: 451 } });
    expect(Date.parse(String(email.events[1]?.data.nextAttemptAt))).toBeGreaterThan(0);
  });

  test("an unknown outcome is recorded, and the policy decides whether the email is sent again or held", async () => {
    const { id } = await world.send({ to: ["unknown@backstamp.test"] });
    await round();
    expect(await world.email(id)).toMatchObject({
      status: "deferred",
      deliveries: [{ status: "queued", waitRule: "unknown_retry" }],
    });
    await world.elapse("10 seconds");
    await round();
    expect(typesOf(await world.email(id))).toEqual([
      "email.queued",
      "email.unknown",
      "email.sent",
      "email.delivered",
    ]);

    await world.hot`update teams set unknown_policy = 'hold'`;
    const held = await world.send({ to: ["unknown@backstamp.test"] });
    await round();
    await world.elapse("10000 seconds");
    await round();
    expect(await world.email(held.id)).toMatchObject({
      status: "unknown",
      deliveries: [{ status: "unknown", attempts: 1 }],
    });
  });
});

test("without a transport, email to real recipients waits with a reason, and email to simulated ones is delivered", async () => {
  const { id } = await world.send({ to: ["ben@example.net", "delivered@backstamp.test"] });
  const without = world.withTransport(null);
  await deliverDue(without);
  await deliverDue(without);
  const waiting = await world.email(id);
  expect(waiting.deliveries).toMatchObject([
    { status: "queued", attempts: 0, waitRule: "no_transport" },
    { status: "delivered", attempts: 1 },
  ]);
  await round();
  expect(await world.email(id)).toMatchObject({
    status: "delivered",
    deliveries: [{ attempts: 1 }, { attempts: 1 }],
  });
});
