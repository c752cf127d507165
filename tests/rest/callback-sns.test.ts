import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { fakeSes } from "../support/servers/providers";
import { type SnsFields, startSnsIssuer, topic } from "../support/servers/sns-issuer";
import { openCallbackApp, type Sent, UNAUTHORIZED } from "./callback-app";

/** Every URL that was requested, reachable or not. */
const requested: string[] = [];
const issuer = await startSnsIssuer();
const app = await openCallbackApp();
const fake = fakeSes(issuer);
const relayId = await app.relayOf(fake);
/** Starts a process with an empty certificate cache. */
const beginAnew = () => {
  requested.length = 0;
  issuer.sink.received.length = 0;
  app.world.deps.outside = {
    ...issuer.outside,
    fetch: (url, request) => {
      requested.push(url);
      return issuer.outside.fetch(url, request);
    },
  };
};
beforeAll(beginAnew);
afterEach(() => {
  issuer.answerAs(null);
  beginAnew();
});
afterAll(() => issuer.close());

const post = (fields: SnsFields) =>
  app.post(relayId, {
    raw: JSON.stringify(fields),
    headers: { "content-type": "text/plain; charset=UTF-8" },
  });
const bounceOf = ({ providerId, address }: Sent) =>
  JSON.stringify(fake.report({ kind: "bounced", providerId, address }));

describe("a notification", () => {
  test("is accepted, and its certificate is fetched once", async () => {
    for (const version of ["1", "2"] as const) {
      const sent = await app.sent(relayId, fake);
      const reply = await post(issuer.message({ Message: bounceOf(sent) }, { version }));
      expect(reply.body).toMatchObject({ recorded: 1 });
      expect(await app.statusOf(sent.id)).toBe("bounced");
    }
    expect(requested).toEqual([issuer.certificateUrl]);
    expect(issuer.sink.received[0]?.serverName).toBe("sns.us-east-1.amazonaws.com");
  });

  const name = "SimpleNotificationService-0123456789abcdef0123456789abcdef.pem";
  test.each<[what: string, fields: SnsFields]>([
    ["of another topic", { TopicArn: `${topic}s` }],
    ["of the topic in another region", { TopicArn: topic.replace("us-east-1", "eu-west-1") }],
    ["with a certificate at another host", { SigningCertURL: `https://evil.example/${name}` }],
    ["with one in another region", { SigningCertURL: `https://sns.eu-west-1.amazonaws.com/${name}` }],
  ])("%s is rejected without any request", async (_, fields) => {
    const sent = await app.sent(relayId, fake);
    expect(await post(issuer.message({ ...fields, Message: bounceOf(sent) }))).toMatchObject(UNAUTHORIZED);
    expect(requested).toEqual([]);
    expect(await app.statusOf(sent.id)).toBe("sent");
  });

  test("gets 503 if its certificate cannot be fetched over a trusted connection, so SNS retries", async () => {
    const sent = await app.sent(relayId, fake);
    const message = issuer.message({ Message: bounceOf(sent) });
    issuer.answerAs(503);
    expect((await post(message)).status).toBe(503);
    const stranger = await startSnsIssuer();
    app.world.deps.outside = {
      ...issuer.outside,
      // Responds under the right name with a certificate of an untrusted authority.
      fetch: (url, request) =>
        issuer.outside.fetch(url.replace(/\.com\//, `.com:${stranger.sink.port}/`), request),
    };
    expect((await post(message)).status).toBe(503);
    expect(stranger.sink.received).toEqual([]);
    await stranger.close();
    beginAnew();
    issuer.answerAs(null);
    expect((await post(message)).body).toMatchObject({ recorded: 1 });
  });

  test("that is the SES test message for a new topic gets 200 and changes nothing", async () => {
    const Message = "Successfully validated SNS topic for Amazon SES event publishing.";
    expect((await post(issuer.message({ Message }))).body).toMatchObject({ recorded: 0, ignored: [] });
  });
});

describe("a subscription", () => {
  const confirmed = () => issuer.sink.received.filter(({ path }) => path.includes("ConfirmSubscription"));

  test("to the relay's topic is confirmed at the host of the topic with its token", async () => {
    const token = "b".repeat(64);
    expect((await post(issuer.confirmation(token))).body).toMatchObject({ recorded: 0, ignored: [] });
    expect(confirmed()).toHaveLength(1);
    const { method, path, serverName } = confirmed()[0] ?? {};
    expect({ method, serverName }).toEqual({ method: "GET", serverName: "sns.us-east-1.amazonaws.com" });
    const query = new URL(path ?? "", "https://x").searchParams;
    expect(Object.fromEntries(query)).toEqual({
      Action: "ConfirmSubscription",
      TopicArn: topic,
      Token: token,
    });
  });

  test("that is forged or for another topic is not confirmed", async () => {
    const genuine = issuer.confirmation();
    const elsewhere = issuer.message({
      Type: "SubscriptionConfirmation",
      TopicArn: `${topic}s`,
      Token: "a".repeat(64),
      SubscribeURL: "https://x",
    });
    expect(await post(elsewhere)).toMatchObject(UNAUTHORIZED);
    expect(await post({ ...genuine, Token: "c".repeat(64) })).toMatchObject(UNAUTHORIZED);
    expect(await post({ ...genuine, SubscribeURL: "https://evil.example/" })).toMatchObject(UNAUTHORIZED);
    expect(confirmed()).toEqual([]);
  });

  test("gets 503 if SNS cannot be reached, so SNS retries", async () => {
    expect((await post(issuer.message({ Message: "x" }))).status).toBe(200);
    issuer.answerAs(500);
    expect((await post(issuer.confirmation())).status).toBe(503);
    issuer.answerAs(null);
    expect((await post(issuer.confirmation())).status).toBe(200);
  });

  test("that ended is recorded and not renewed", async () => {
    const message = issuer.message({
      Type: "UnsubscribeConfirmation",
      Token: "e".repeat(64),
      SubscribeURL: "https://x",
    });
    expect((await post(message)).body).toMatchObject({ recorded: 0, ignored: [] });
    expect(confirmed()).toEqual([]);
  });
});

test("an ambiguous complaint is recorded for each possible recipient and suppresses no address", async () => {
  const to = ["one@isp.example", "two@isp.example", "three@other.example"];
  const sent = await app.sent(relayId, fake, to);
  const complainedRecipients = to.slice(0, 2).map((emailAddress) => ({ emailAddress }));
  const notification = {
    notificationType: "Complaint",
    mail: { messageId: sent.providerId, destination: to },
    complaint: { complainedRecipients, feedbackId: "f-9", timestamp: "2026-01-27T14:59:38.237Z" },
  };
  const reply = await post(issuer.message({ Message: JSON.stringify(notification) }));
  expect(reply.body).toMatchObject({ recorded: 2, ignored: [] });
  const email = await app.email(sent.id);
  expect((email.recipients as { status: string }[]).map(({ status }) => status)).toEqual([
    "complained",
    "complained",
    "sent",
  ]);
  for (const address of to) expect(await app.suppressed(address)).toBeNull();
});
