import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RelayProvider } from "#db/schema/relays";
import type { Log } from "#server/platform/log";
import {
  type FakeProvider,
  fakeMailgun,
  fakePostmark,
  fakeResend,
  fakeSendgrid,
  fakeSes,
} from "../support/servers/providers";
import { startSnsIssuer } from "../support/servers/sns-issuer";
import {
  fakeBrevo,
  fakeMailersend,
  fakeMailjet,
  fakeScaleway,
  fakeSparkpost,
} from "../support/servers/table-providers";
import { openCallbackApp, type Sent, UNAUTHORIZED } from "./callback-app";

const logged: { event: string; facts: unknown }[] = [];
const keep = (event: string, facts?: unknown) => void logged.push({ event, facts });
const log: Log = { info: keep, warn: keep, error: keep };

const [issuer, scaleway] = await Promise.all([startSnsIssuer(), startSnsIssuer("scaleway")]);
const app = await openCallbackApp({ log });
app.world.deps.outside = {
  ...issuer.outside,
  fetch: (url, request) =>
    (/\.(scaleway\.com|scw\.cloud)\//.test(url) ? scaleway : issuer).outside.fetch(url, request),
};
afterAll(() => Promise.all([issuer.close(), scaleway.close()]));

const FAKE_PROVIDERS: Record<RelayProvider, () => FakeProvider> = {
  ses: () => fakeSes(issuer),
  postmark: fakePostmark,
  mailgun: fakeMailgun,
  sendgrid: fakeSendgrid,
  resend: fakeResend,
  brevo: fakeBrevo,
  mailjet: fakeMailjet,
  sparkpost: fakeSparkpost,
  scaleway: () => fakeScaleway(scaleway),
  mailersend: fakeMailersend,
};
const now = () => app.world.clock.now();

// Cases that do not apply to a provider are not declared; they are not skipped tests.

describe.each(Object.keys(FAKE_PROVIDERS) as RelayProvider[])("%s", (provider) => {
  let fake: FakeProvider;
  let relayId: string;
  beforeAll(async () => {
    fake = FAKE_PROVIDERS[provider]();
    relayId = await app.relayOf(fake);
  });

  const callOf = ({ address, providerId }: Sent, kind: "delivered" | "bounced" | "complained") =>
    fake.call(fake.report({ kind, providerId, address }), now());

  test("reports a delivery", async () => {
    const sent = await app.sent(relayId, fake);
    const reply = await app.post(relayId, callOf(sent, "delivered"));
    expect({ status: reply.status, body: reply.body }).toEqual({
      status: 200,
      body: { object: "relay_callback", recorded: 1, ignored: [] },
    });
    expect(await app.email(sent.id)).toMatchObject({ status: "delivered", last_event: "delivered" });
    expect(await app.eventsOf(sent.id)).toContain("email.delivered");
  });

  if (provider !== "scaleway")
    test("reports a complaint, which suppresses the address", async () => {
      const sent = await app.sent(relayId, fake);
      expect((await app.post(relayId, callOf(sent, "complained"))).body).toMatchObject({ recorded: 1 });
      expect(await app.statusOf(sent.id)).toBe("complained");
      expect(await app.suppressed(sent.address)).toBe("complaint");
    });

  test("reports a hard bounce with the server's reply, which suppresses the address", async () => {
    const sent = await app.sent(relayId, fake);
    expect((await app.post(relayId, callOf(sent, "bounced"))).body).toMatchObject({ recorded: 1 });
    const email = await app.email(sent.id);
    expect(email.status).toBe("bounced");
    expect((email.recipients as unknown[])[0]).toMatchObject({
      class: "hard",
      last_reply: { code: 550, enhanced: "5.1.1", text: expect.stringContaining("No such user") },
    });
    expect(await app.suppressed(sent.address)).toBe("bounce");
  });

  test("is rejected and counted with the secret of another relay or a changed signature", async () => {
    const sent = await app.sent(relayId, fake);
    const genuine = callOf(sent, "bounced");
    const other = FAKE_PROVIDERS[provider]();
    const body = other.report({ kind: "bounced", providerId: sent.providerId, address: sent.address });
    const forged =
      fake.given.topic !== undefined
        ? { ...genuine, raw: genuine.raw.replace(/"Signature":"..../, '"Signature":"AAAA') }
        : other.call(body, now());
    const before = await app.world.rowCounts();
    logged.length = 0;
    expect(await app.post(relayId, forged)).toMatchObject(UNAUTHORIZED);
    expect(await app.world.rowCounts()).toEqual(before);
    expect(await app.statusOf(sent.id)).toBe("sent");
    expect(logged.filter(({ event }) => event === "callback.rejected")).toEqual([
      { event: "callback.rejected", facts: { why: "forged", refused: 1, relayId, provider } },
    ]);
    expect((await app.post(relayId, genuine)).body).toMatchObject({ recorded: 1 });
  });

  test("gets 200 for an event that is not stored", async () => {
    const odd = { Type: "Open", RecordType: "Open", data: 1, mail: {}, "event-data": [] };
    for (const body of [{}, [], [1, null], odd]) {
      const { status, body: response } = await app.post(relayId, fake.call(body, now()));
      expect({ status, response }).toMatchObject({ status: 200, response: { recorded: 0, ignored: [] } });
    }
  });
});

/* What follows a report that was read is the same for every provider. */
describe("a report of any provider", () => {
  const provider = "sendgrid";
  let fake: FakeProvider;
  let relayId: string;
  beforeAll(async () => {
    fake = FAKE_PROVIDERS[provider]();
    relayId = await app.relayOf(fake);
  });
  const callOf = ({ address, providerId }: Sent, kind: "delivered" | "bounced" | "delayed", said?: string) =>
    fake.call(fake.report({ kind, providerId, address, ...(said === undefined ? {} : { said }) }), now());

  test("that follows a bounce with a delivery leaves the status bounced", async () => {
    const sent = await app.sent(relayId, fake);
    await app.post(relayId, callOf(sent, "bounced"));
    const { status, body } = await app.post(relayId, callOf(sent, "delivered"));
    expect({ status, body }).toMatchObject({
      status: 200,
      body: { recorded: 0, ignored: [{ reason: "outranked" }] },
    });
    expect(await app.statusOf(sent.id)).toBe("bounced");
  });

  test("counts once, in the same or another call", async () => {
    const sent = await app.sent(relayId, fake);
    const body = fake.report({ kind: "bounced", providerId: sent.providerId, address: sent.address });
    const call = fake.call(body, now());
    const all = await Promise.all(Array.from({ length: 4 }, () => app.post(relayId, call)));
    expect(all.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(all.filter((reply) => reply.body.recorded === 1)).toHaveLength(1);
    expect((await app.post(relayId, fake.call(body, now()))).body).toMatchObject({ recorded: 0 });
    expect((await app.eventsOf(sent.id)).filter((type) => type === "email.bounced")).toHaveLength(1);
  });

  test("is ignored for email sent by another relay of any team", async () => {
    const other = FAKE_PROVIDERS[provider]();
    const theirs = await app.world.otherTeam();
    const sent = await app.sent(relayId, fake);
    for (const foreign of [await app.relayOf(other), await app.relayOf(other, theirs)]) {
      const body = other.report({ kind: "complained", providerId: sent.providerId, address: sent.address });
      const reply = await app.post(foreign, other.call(body, now()));
      expect({ status: reply.status, body: reply.body }).toMatchObject({
        status: 200,
        body: { recorded: 0, ignored: [{ reason: "unknown" }] },
      });
    }
    expect(await app.statusOf(sent.id)).toBe("sent");
    expect(await app.suppressed(sent.address)).toBeNull();
  });

  test("is ignored for another team's email with a team's relay, even if the email names that relay", async () => {
    const other = FAKE_PROVIDERS[provider]();
    const theirs = await app.relayOf(other, await app.world.otherTeam());
    const sent = await app.sent(theirs, other);
    const body = other.report({ kind: "bounced", providerId: sent.providerId, address: sent.address });
    const reply = await app.post(theirs, other.call(body, now()));
    expect(reply.body).toMatchObject({ recorded: 0, ignored: [{ reason: "unknown" }] });
    expect(await app.statusOf(sent.id)).toBe("sent");
  });

  test("on a hard bounce of a forwarding target does not suppress the original recipient", async () => {
    const sent = await app.sent(relayId, fake);
    await app.post(relayId, callOf({ ...sent, address: `inner-${provider}@elsewhere.example` }, "bounced"));
    expect(await app.statusOf(sent.id)).toBe("bounced");
    expect(await app.suppressed(sent.address)).toBeNull();
  });

  test("of a delay creates an event and changes no status", async () => {
    const sent = await app.sent(relayId, fake);
    const call = callOf(sent, "delayed", "451 4.4.1 Try again later");
    expect((await app.post(relayId, call)).body).toMatchObject({ recorded: 1 });
    expect(await app.statusOf(sent.id)).toBe("sent");
    expect(await app.eventsOf(sent.id)).toContain("email.delivery_delayed");
  });

  test("changes only one of several recipients of the same transaction", async () => {
    const to = ["one", "two"].map((name) => `${name}-${provider}@example.net`);
    const sent = await app.sent(relayId, fake, to);
    await app.post(relayId, callOf({ ...sent, address: to[1] ?? "" }, "bounced"));
    const email = await app.email(sent.id);
    expect((email.recipients as { status: string }[]).map(({ status }) => status)).toEqual([
      "sent",
      "bounced",
    ]);
    expect(await app.suppressed(to[0] ?? "")).toBeNull();
  });

  test("is rejected until its secret is configured", async () => {
    const sent = await app.sent(relayId, fake);
    const silent = await app.relayOf(fake);
    await app.world.hot`
      update relays set callback_secret = null, callback_topic = null where id = ${silent}`;
    expect(await app.post(silent, callOf(sent, "bounced"))).toMatchObject(UNAUTHORIZED);
  });

  test("gets 503 if the attempt is not recorded yet", async () => {
    const sent = await app.sent(relayId, fake);
    const { hot } = app.world.deps;
    await hot`update deliveries set provider_id = null where email_id = ${sent.id}`;
    const body = fake.report({ kind: "delivered", ...sent, at: now() });
    const call = fake.call(body, now());
    expect((await app.post(relayId, call)).status).toBe(503);
    await hot`update deliveries set provider_id = ${sent.providerId} where email_id = ${sent.id}`;
    expect((await app.post(relayId, call)).body).toMatchObject({ recorded: 1 });
    expect(await app.statusOf(sent.id)).toBe("delivered");
  });
});
