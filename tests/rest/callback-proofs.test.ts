import { expect, test } from "vitest";
import type { Log } from "#server/platform/log";
import { fakeMailgun, fakePostmark, fakeSendgrid } from "../support/servers/providers";
import { openCallbackApp, UNAUTHORIZED } from "./callback-app";

const logged: { event: string; facts: unknown }[] = [];
const keep = (event: string, facts?: unknown) => void logged.push({ event, facts });
const log: Log = { info: keep, warn: keep, error: keep };

const app = await openCallbackApp({ log });
const now = () => app.world.clock.now();

test("a Mailgun token is valid only for the body with which it first arrived", async () => {
  const fake = fakeMailgun();
  const relayId = await app.relayOf(fake);
  const [sent, other] = [await app.sent(relayId, fake), await app.sent(relayId, fake)];
  const call = fake.call(fake.report({ kind: "delivered", ...sent }), now());
  expect((await app.post(relayId, call)).body).toMatchObject({ recorded: 1 });
  const turned = call.raw
    .replace('"event":"delivered"', '"event":"complained"')
    .replaceAll(sent.providerId, other.providerId)
    .replaceAll(sent.address, other.address);
  logged.length = 0;
  expect(await app.post(relayId, { ...call, raw: turned })).toMatchObject(UNAUTHORIZED);
  expect(logged).toMatchObject([{ event: "callback.rejected", facts: { why: "reused" } }]);
  expect(await app.statusOf(other.id)).toBe("sent");
  expect((await app.post(relayId, call)).body).toMatchObject({ ignored: [{ reason: "repeated" }] });
});

test("a report with only the Message-ID is recorded for its recipient and suppresses no address", async () => {
  const fake = fakeSendgrid();
  const relayId = await app.relayOf(fake);
  const sent = await app.sent(relayId, fake);
  const events = fake.report({ kind: "bounced", ...sent }) as Record<string, unknown>[];
  const post = (change: object) => {
    const { sg_message_id: _, ...event } = events[1] ?? {};
    return app.post(relayId, fake.call([{ ...event, ...change }], now()));
  };
  const named = { "smtp-id": `<${sent.messageId}>` };
  expect((await post({ ...named, email: "other@example.net" })).body).toMatchObject({
    ignored: [{ reason: "unknown" }],
  });
  const byOther = await app.relayOf(fakeSendgrid());
  await app.world.hot`update deliveries set relay_id = ${byOther} where email_id = ${sent.id}`;
  expect((await post(named)).body).toMatchObject({ ignored: [{ reason: "unknown" }] });
  await app.world.hot`update deliveries set relay_id = ${relayId} where email_id = ${sent.id}`;
  await app.world.hot`update emails set created_at = now() - interval '11 days' where id = ${sent.id}`;
  expect((await post(named)).body).toMatchObject({ ignored: [{ reason: "unknown" }] });
  await app.world.hot`update emails set created_at = now() where id = ${sent.id}`;
  expect((await post(named)).body).toMatchObject({ recorded: 1 });
  expect(await app.statusOf(sent.id)).toBe("bounced");
  expect(await app.suppressed(sent.address)).toBeNull();
});

test("a secret is valid only for its own provider", async () => {
  const fake = fakeSendgrid();
  const relayId = await app.relayOf(fake);
  await app.world.hot`update relays set provider = 'postmark' where id = ${relayId}`;
  const { secret = "" } = fake.given;
  const call = {
    raw: "{}",
    headers: { "content-type": "application/json", "x-callback-secret": secret },
  };
  expect(await app.post(relayId, call)).toMatchObject(UNAUTHORIZED);
});

test("an unknown relay gets the same response as a forged call, and a body that is too large gets 413", async () => {
  const fake = fakePostmark();
  const call = fake.call({}, now());
  expect(await app.post("018f0000-0000-7000-8000-000000000000", call)).toMatchObject(UNAUTHORIZED);
  expect((await app.post("no-id", call)).status).toBe(422);
  const relayId = await app.relayOf(fake);
  expect((await app.post(relayId, { ...call, raw: `"${"x".repeat(3_000_000)}"` })).status).toBe(413);
  expect((await app.post(relayId, { ...call, raw: "{" })).status).toBe(400);
});

test("rejected calls are counted and logged at most once per minute for each relay and reason", async () => {
  const fake = fakePostmark();
  const [relayId, other] = [await app.relayOf(fake), await app.relayOf(fakePostmark())];
  const { raw } = fake.call({}, now());
  const refuse = (id: string) => app.post(id, { raw, headers: { "content-type": "application/json" } });
  logged.length = 0;
  for (let n = 0; n < 3; n++) expect(await refuse(relayId)).toMatchObject(UNAUTHORIZED);
  expect(await refuse(other)).toMatchObject(UNAUTHORIZED);
  app.world.clock.advance(61_000);
  expect(await refuse(relayId)).toMatchObject(UNAUTHORIZED);
  const reason = { why: "forged", provider: "postmark" };
  expect(logged).toEqual([
    { event: "callback.rejected", facts: { ...reason, relayId, refused: 1 } },
    { event: "callback.rejected", facts: { ...reason, relayId: other, refused: 1 } },
    { event: "callback.rejected", facts: { ...reason, relayId, refused: 3 } },
  ]);
});
