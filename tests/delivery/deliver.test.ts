import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { tick } from "#server/delivery/tick";
import { type House, openHouse } from "../support/house";

let house: House;
beforeEach(async () => {
  house = await openHouse();
});
afterEach(async () => {
  await house.close();
});

const round = () => tick(house.withTransport(), { budgetMs: 20_000 });
const typesOf = (email: { events: { type: string }[] }) => email.events.map(({ type }) => type);

describe("capture", () => {
  test("an email is stored once with the bytes that would be sent, and is delivered", async () => {
    const { id } = await house.send({ subject: "Grüße", to: ["ben@example.net", "cy@example.net"] });
    await round();
    const email = await house.email(id);
    expect(email.status).toBe("delivered");
    expect(email.deliveries.map(({ status, attempts }) => ({ status, attempts }))).toEqual([
      { status: "delivered", attempts: 1 },
      { status: "delivered", attempts: 1 },
    ]);
    expect(typesOf(email).sort()).toEqual(
      ["email.queued", "email.sent", "email.sent", "email.delivered", "email.delivered"].sort(),
    );
    const kept = await house.hot<{ raw: Uint8Array }[]>`select raw from captured_messages`;
    expect(kept).toHaveLength(1);
    expect(Buffer.from(kept[0]?.raw ?? "").toString()).toContain(`Message-ID: <${email.messageId}>`);
  });
});

describe("scripted recipients", () => {
  test("each scripted address has the outcome that its name says", async () => {
    const names = ["delivered", "bounced", "complained", "suppressed", "slow", "nobody"];
    const { id } = await house.send({ to: names.map((name) => `${name}+x@backstamp.test`) });
    await round();
    const email = await house.email(id);
    expect(
      Object.fromEntries(email.deliveries.map((row) => [row.address.split("+")[0], row.status])),
    ).toEqual({
      delivered: "delivered",
      bounced: "bounced",
      complained: "complained",
      suppressed: "suppressed",
      slow: "delivered",
      nobody: "bounced",
    });
    expect(email.status).toBe("complained");
    expect(await house.hot`select 1 from captured_messages`).toHaveLength(0);
  });

  test("deferred is delivered on the third attempt, and each wait is recorded with its rule", async () => {
    const { id } = await house.send({ to: ["deferred@backstamp.test"] });
    for (let attempt = 1; attempt <= 3; attempt++) {
      await round();
      await house.elapse(10_000);
    }
    const email = await house.email(id);
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
    const { id } = await house.send({ to: ["unknown@backstamp.test"] });
    await round();
    expect(await house.email(id)).toMatchObject({
      status: "deferred",
      deliveries: [{ status: "queued", waitRule: "unknown_retry" }],
    });
    await house.elapse(10_000);
    await round();
    expect(typesOf(await house.email(id))).toEqual([
      "email.queued",
      "email.unknown",
      "email.sent",
      "email.delivered",
    ]);

    await house.hot`update teams set unknown_policy = 'hold'`;
    const held = await house.send({ to: ["unknown@backstamp.test"] });
    await round();
    await house.elapse(10_000_000);
    await round();
    expect(await house.email(held.id)).toMatchObject({
      status: "unknown",
      deliveries: [{ status: "unknown", attempts: 1 }],
    });
  });
});

test("without a transport real recipients wait with a reason until there is one, and scripted ones do not", async () => {
  const { id } = await house.send({ to: ["ben@example.net", "delivered@backstamp.test"] });
  const without = house.withTransport(null);
  await tick(without, { budgetMs: 20_000 });
  await tick(without, { budgetMs: 20_000 });
  const waiting = await house.email(id);
  expect(waiting.deliveries).toMatchObject([
    { status: "queued", attempts: 0, waitRule: "no_transport" },
    { status: "delivered", attempts: 1 },
  ]);
  await round();
  expect(await house.email(id)).toMatchObject({
    status: "delivered",
    deliveries: [{ attempts: 1 }, { attempts: 1 }],
  });
});
