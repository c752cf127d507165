import { afterAll, beforeAll, expect, test } from "vitest";
import type { Log } from "#server/log";
import { fakeMailgun, fakePostmark, fakeSendgrid } from "../support/providers";
import { openCallbackDesk } from "./callback-desk";

const UNAUTHORIZED = { status: 401, text: '{"error":"Unauthorized"}' };
const logged: { event: string; facts: unknown }[] = [];
const keep = (event: string, facts?: unknown) => void logged.push({ event, facts });
const log: Log = { info: keep, warn: keep, error: keep };

let desk: Awaited<ReturnType<typeof openCallbackDesk>>;
beforeAll(async () => {
  desk = await openCallbackDesk({ log });
});
afterAll(() => desk.close());
const now = () => desk.world.clock.now();

test("a token of Mailgun's serves for the body that it came with, and for no other", async () => {
  const fake = fakeMailgun();
  const relayId = await desk.relayOf(fake);
  const [mail, other] = [await desk.sent(relayId, fake), await desk.sent(relayId, fake)];
  const call = fake.call(fake.tell({ kind: "delivered", ...mail }), now());
  expect((await desk.post(relayId, call)).body).toMatchObject({ recorded: 1 });
  const turned = call.raw
    .replace('"event":"delivered"', '"event":"complained"')
    .replaceAll(mail.providerId, other.providerId)
    .replaceAll(mail.address, other.address);
  logged.length = 0;
  expect(await desk.post(relayId, { ...call, raw: turned })).toMatchObject(UNAUTHORIZED);
  expect(logged).toMatchObject([{ event: "callback.refused", facts: { why: "reused" } }]);
  expect(await desk.statusOf(other.id)).toBe("sent");
  expect((await desk.post(relayId, call)).body).toMatchObject({ ignored: [{ reason: "repeated" }] });
});

test("Postmark may send the secret in a header of its own", async () => {
  const fake = fakePostmark();
  const relayId = await desk.relayOf(fake);
  const mail = await desk.sent(relayId, fake);
  const { raw } = fake.call(fake.tell({ kind: "delivered", ...mail }), now());
  const post = (secret: string) =>
    desk.post(relayId, {
      raw,
      headers: { "content-type": "application/json", "x-callback-secret": secret },
    });
  expect(await post(`${fake.given.secret}x`)).toMatchObject(UNAUTHORIZED);
  expect((await post(fake.given.secret ?? "")).body).toMatchObject({ recorded: 1 });
});

test("a report that knows the Message-ID alone is recorded for a recipient of it, and suppresses nobody", async () => {
  const fake = fakeSendgrid();
  const relayId = await desk.relayOf(fake);
  const mail = await desk.sent(relayId, fake);
  const told = fake.tell({ kind: "bounced", ...mail }) as Record<string, unknown>[];
  const post = (change: object) => {
    const { sg_message_id: _, ...event } = told[1] ?? {};
    return desk.post(relayId, fake.call([{ ...event, ...change }], now()));
  };
  const named = { "smtp-id": `<${mail.messageId}>` };
  expect((await post({ ...named, email: "other@example.net" })).body).toMatchObject({
    ignored: [{ reason: "unknown" }],
  });
  const byOther = await desk.relayOf(fakeSendgrid());
  await desk.world.deps.hot`update deliveries set relay_id = ${byOther} where email_id = ${mail.id}`;
  expect((await post(named)).body).toMatchObject({ ignored: [{ reason: "unknown" }] });
  await desk.world.deps.hot`update deliveries set relay_id = ${relayId} where email_id = ${mail.id}`;
  await desk.world.deps.hot`update emails set created_at = now() - interval '11 days' where id = ${mail.id}`;
  expect((await post(named)).body).toMatchObject({ ignored: [{ reason: "unknown" }] });
  await desk.world.deps.hot`update emails set created_at = now() where id = ${mail.id}`;
  expect((await post(named)).body).toMatchObject({ recorded: 1 });
  expect(await desk.statusOf(mail.id)).toBe("bounced");
  expect(await desk.suppressed(mail.address)).toBeNull();
});

test("a secret is of use to the provider alone that it was given for", async () => {
  const fake = fakeSendgrid();
  const relayId = await desk.relayOf(fake);
  await desk.world.deps.hot`update relays set provider = 'postmark' where id = ${relayId}`;
  const { secret = "" } = fake.given;
  const call = {
    raw: "{}",
    headers: { "content-type": "application/json", "x-callback-secret": secret },
  };
  expect(await desk.post(relayId, call)).toMatchObject(UNAUTHORIZED);
});

test("a relay that is none is answered like a forged call, and a body that is too large by its size", async () => {
  const fake = fakePostmark();
  const call = fake.call({}, now());
  expect(await desk.post("018f0000-0000-7000-8000-000000000000", call)).toMatchObject(UNAUTHORIZED);
  expect((await desk.post("no-id", call)).status).toBe(422);
  const relayId = await desk.relayOf(fake);
  expect((await desk.post(relayId, { ...call, raw: `"${"x".repeat(3_000_000)}"` })).status).toBe(413);
  expect((await desk.post(relayId, { ...call, raw: "{" })).status).toBe(400);
});

test("calls that are refused are counted, and told in the log at most once a minute for each relay and reason", async () => {
  const fake = fakePostmark();
  const [relayId, other] = [await desk.relayOf(fake), await desk.relayOf(fakePostmark())];
  const { raw } = fake.call({}, now());
  const refuse = (id: string) => desk.post(id, { raw, headers: { "content-type": "application/json" } });
  logged.length = 0;
  for (let n = 0; n < 3; n++) expect(await refuse(relayId)).toMatchObject(UNAUTHORIZED);
  expect(await refuse(other)).toMatchObject(UNAUTHORIZED);
  desk.world.clock.advance(61_000);
  expect(await refuse(relayId)).toMatchObject(UNAUTHORIZED);
  const told = { why: "forged", provider: "postmark" };
  expect(logged).toEqual([
    { event: "callback.refused", facts: { ...told, relayId, refused: 1 } },
    { event: "callback.refused", facts: { ...told, relayId: other, refused: 1 } },
    { event: "callback.refused", facts: { ...told, relayId, refused: 3 } },
  ]);
});
