import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RelayProvider } from "#db/schema/relays";
import type { Log } from "#server/log";
import {
  type FakeProvider,
  fakeMailgun,
  fakePostmark,
  fakeResend,
  fakeSendgrid,
  fakeSes,
} from "../support/providers";
import { type SnsIssuer, startSnsIssuer } from "../support/sns-issuer";
import { openCallbackDesk, type Sent } from "./callback-desk";
import { forgedCalls } from "./forged-calls";

const UNAUTHORIZED = { status: 401, text: '{"error":"Unauthorized"}' };
const logged: { event: string; facts: unknown }[] = [];
const keep = (event: string, facts?: unknown) => void logged.push({ event, facts });
const log: Log = { info: keep, warn: keep, error: keep };

let desk: Awaited<ReturnType<typeof openCallbackDesk>>;
let issuer: SnsIssuer;
beforeAll(async () => {
  issuer = await startSnsIssuer();
  desk = await openCallbackDesk({ log });
  desk.world.deps.outside = issuer.outside;
});
afterAll(async () => {
  await desk.close();
  await issuer.close();
});

const MAKE: Record<RelayProvider, () => FakeProvider> = {
  ses: () => fakeSes(issuer),
  postmark: fakePostmark,
  mailgun: fakeMailgun,
  sendgrid: fakeSendgrid,
  resend: fakeResend,
};
const now = () => desk.world.clock.now();

// What does not concern a provider is not asked of it, which is no skipped test.
const testWhere = (applies: boolean) => (applies ? test : () => {});

describe.each(Object.keys(MAKE) as RelayProvider[])("%s", (provider) => {
  let fake: FakeProvider;
  let relayId: string;
  beforeAll(async () => {
    fake = MAKE[provider]();
    relayId = await desk.relayOf(fake);
  });

  const callOf = (
    { address, providerId }: Sent,
    kind: "delivered" | "bounced" | "complained" | "delayed",
    said?: string,
  ) => fake.call(fake.tell({ kind, providerId, address, ...(said === undefined ? {} : { said }) }), now());

  test("tells of a delivery, which is what the mail's status is then", async () => {
    const mail = await desk.sent(relayId, fake);
    const reply = await desk.post(relayId, callOf(mail, "delivered"));
    expect({ status: reply.status, body: reply.body }).toEqual({
      status: 200,
      body: { object: "relay_callback", recorded: 1, ignored: [] },
    });
    expect(await desk.email(mail.id)).toMatchObject({ status: "delivered", last_event: "delivered" });
    expect(await desk.eventsOf(mail.id)).toContain("email.delivered");
  });

  test("tells of a bounce with the server's words, and an address that is dead is suppressed", async () => {
    const mail = await desk.sent(relayId, fake);
    expect((await desk.post(relayId, callOf(mail, "bounced"))).body).toMatchObject({ recorded: 1 });
    const email = await desk.email(mail.id);
    expect(email.status).toBe("bounced");
    expect((email.recipients as unknown[])[0]).toMatchObject({
      class: "hard",
      last_reply: { code: 550, enhanced: "5.1.1", text: expect.stringContaining("No such user") },
    });
    expect(await desk.suppressed(mail.address)).toBe("bounce");
  });

  test("tells of a bounce for another reason, and nobody is suppressed", async () => {
    const mail = await desk.sent(relayId, fake);
    await desk.post(relayId, callOf(mail, "bounced", "552 5.2.2 Mailbox full"));
    expect(await desk.statusOf(mail.id)).toBe("bounced");
    expect(await desk.suppressed(mail.address)).toBeNull();
  });

  test("tells of a complaint, and who complained is suppressed", async () => {
    const mail = await desk.sent(relayId, fake);
    await desk.post(relayId, callOf(mail, "delivered"));
    expect((await desk.post(relayId, callOf(mail, "complained"))).body).toMatchObject({ recorded: 1 });
    expect(await desk.statusOf(mail.id)).toBe("complained");
    expect(await desk.suppressed(mail.address)).toBe("complaint");
  });

  test("tells of a delay, which is told on and changes no status", async () => {
    const mail = await desk.sent(relayId, fake);
    const call = callOf(mail, "delayed", "451 4.4.1 Try again later");
    expect((await desk.post(relayId, call)).body).toMatchObject({ recorded: 1 });
    expect(await desk.statusOf(mail.id)).toBe("sent");
    expect(await desk.eventsOf(mail.id)).toContain("email.delivery_delayed");
  });

  test("tells late of a delivery that came back, which stays bounced", async () => {
    const mail = await desk.sent(relayId, fake);
    await desk.post(relayId, callOf(mail, "bounced"));
    const { status, body } = await desk.post(relayId, callOf(mail, "delivered"));
    expect({ status, body }).toMatchObject({
      status: 200,
      body: { recorded: 0, ignored: [{ reason: "outranked" }] },
    });
    expect(await desk.statusOf(mail.id)).toBe("bounced");
  });

  test("tells the same again, by the same call or by a new one, and it counts once", async () => {
    const mail = await desk.sent(relayId, fake);
    const body = fake.tell({ kind: "bounced", providerId: mail.providerId, address: mail.address });
    const call = fake.call(body, now());
    const all = await Promise.all(Array.from({ length: 4 }, () => desk.post(relayId, call)));
    expect(all.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(all.filter((reply) => reply.body.recorded === 1)).toHaveLength(1);
    expect((await desk.post(relayId, fake.call(body, now()))).body).toMatchObject({ recorded: 0 });
    expect((await desk.eventsOf(mail.id)).filter((type) => type === "email.bounced")).toHaveLength(1);
  });

  test("is not believed where a letter of the proof or of what is proven is another, and it is counted", async () => {
    const mail = await desk.sent(relayId, fake);
    const genuine = callOf(mail, "bounced");
    const before = await desk.world.rowCounts();
    logged.length = 0;
    for (const call of forgedCalls(provider, genuine)) {
      expect(call).not.toEqual(genuine);
      expect(await desk.post(relayId, call)).toMatchObject(UNAUTHORIZED);
    }
    expect(await desk.world.rowCounts()).toEqual(before);
    expect(await desk.statusOf(mail.id)).toBe("sent");
    expect(logged.filter(({ event }) => event === "callback.refused")).toEqual([
      { event: "callback.refused", facts: { why: "forged", refused: expect.any(Number), relayId, provider } },
    ]);
    expect((await desk.post(relayId, genuine)).body).toMatchObject({ recorded: 1 });
  });

  testWhere(provider !== "ses")("is not believed by what belongs to another relay of its own", async () => {
    const other = MAKE[provider]();
    const mail = await desk.sent(relayId, fake);
    const body = other.tell({ kind: "bounced", providerId: mail.providerId, address: mail.address });
    expect(await desk.post(relayId, other.call(body, now()))).toMatchObject(UNAUTHORIZED);
    expect(await desk.statusOf(mail.id)).toBe("sent");
  });

  test("tells nothing of mail that went by another relay, whosever it is", async () => {
    const other = MAKE[provider]();
    const theirs = await desk.world.otherTeam();
    const mail = await desk.sent(relayId, fake);
    for (const foreign of [await desk.relayOf(other), await desk.relayOf(other, theirs)]) {
      const body = other.tell({ kind: "complained", providerId: mail.providerId, address: mail.address });
      const reply = await desk.post(foreign, other.call(body, now()));
      expect({ status: reply.status, body: reply.body }).toMatchObject({
        status: 200,
        body: { recorded: 0, ignored: [{ reason: "unknown" }] },
      });
    }
    expect(await desk.statusOf(mail.id)).toBe("sent");
    expect(await desk.suppressed(mail.address)).toBeNull();
  });

  test("tells nothing of another team's mail by a team's relay, even where the mail names that relay", async () => {
    const other = MAKE[provider]();
    const theirs = await desk.relayOf(other, await desk.world.otherTeam());
    const mail = await desk.sent(theirs, other);
    const body = other.tell({ kind: "bounced", providerId: mail.providerId, address: mail.address });
    const reply = await desk.post(theirs, other.call(body, now()));
    expect(reply.body).toMatchObject({ recorded: 0, ignored: [{ reason: "unknown" }] });
    expect(await desk.statusOf(mail.id)).toBe("sent");
  });

  test("touches one recipient of several that were given to it together", async () => {
    const to = ["one", "two"].map((name) => `${name}-${provider}@example.net`);
    const mail = await desk.sent(relayId, fake, to);
    await desk.post(relayId, callOf({ ...mail, address: to[1] ?? "" }, "bounced"));
    const email = await desk.email(mail.id);
    expect((email.recipients as { status: string }[]).map(({ status }) => status)).toEqual([
      "sent",
      "bounced",
    ]);
    expect(await desk.suppressed(to[0] ?? "")).toBeNull();
  });

  test("says that an address is dead to which ours led on, and ours is not suppressed", async () => {
    const mail = await desk.sent(relayId, fake);
    await desk.post(relayId, callOf({ ...mail, address: `inner-${provider}@elsewhere.example` }, "bounced"));
    expect(await desk.statusOf(mail.id)).toBe("bounced");
    expect(await desk.suppressed(mail.address)).toBeNull();
  });

  test("is asked to come again where it is ahead of our own record", async () => {
    const mail = await desk.sent(relayId, fake);
    const { hot } = desk.world.deps;
    await hot`update deliveries set provider_id = null where email_id = ${mail.id}`;
    const body = fake.tell({ kind: "delivered", ...mail, at: now() });
    const call = fake.call(body, now());
    expect((await desk.post(relayId, call)).status).toBe(503);
    await hot`update deliveries set provider_id = ${mail.providerId} where email_id = ${mail.id}`;
    expect((await desk.post(relayId, call)).body).toMatchObject({ recorded: 1 });
    expect(await desk.statusOf(mail.id)).toBe("delivered");
  });

  test("tells of what is not kept, and is answered all the same", async () => {
    const odd = { Type: "Open", RecordType: "Open", data: 1, mail: {}, "event-data": [] };
    for (const body of [{}, [], [1, null], odd]) {
      const { status, body: said } = await desk.post(relayId, fake.call(body, now()));
      expect({ status, said }).toMatchObject({ status: 200, said: { recorded: 0, ignored: [] } });
    }
  });

  test("is not heard before anybody said by what it proves itself", async () => {
    const mail = await desk.sent(relayId, fake);
    const silent = await desk.relayOf(fake);
    await desk.world.deps.hot`
      update relays set callback_secret = null, callback_topic = null where id = ${silent}`;
    expect(await desk.post(silent, callOf(mail, "bounced"))).toMatchObject(UNAUTHORIZED);
  });

  testWhere(provider !== "postmark")("is not believed when its call is old, or from the future", async () => {
    const mail = await desk.sent(relayId, fake);
    const call = callOf(mail, "bounced");
    logged.length = 0;
    desk.world.clock.advance(25 * 3_600_000);
    expect(await desk.post(relayId, call)).toMatchObject(UNAUTHORIZED);
    expect(logged).toMatchObject([{ event: "callback.refused", facts: { why: "expired", refused: 1 } }]);
    const early = fake.call(fake.tell({ kind: "bounced", ...mail }), new Date(now().getTime() + 3_600_000));
    expect(await desk.post(relayId, early)).toMatchObject(UNAUTHORIZED);
    expect(await desk.statusOf(mail.id)).toBe("sent");
  });
});
