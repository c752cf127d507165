import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { makeAuthority, makeCertificate } from "../support/certificate";
import { type FakeProvider, fakeSes } from "../support/providers";
import { type SnsFields, type SnsIssuer, startSnsIssuer, topic } from "../support/sns-issuer";
import { openCallbackDesk, type Sent } from "./callback-desk";

const UNAUTHORIZED = { status: 401, text: '{"error":"Unauthorized"}' };

let desk: Awaited<ReturnType<typeof openCallbackDesk>>;
let issuer: SnsIssuer;
let fake: FakeProvider;
let relayId: string;
/** Every address that was asked for, whether or not anybody was there. */
const asked: string[] = [];
beforeAll(async () => {
  issuer = await startSnsIssuer();
  desk = await openCallbackDesk();
  fake = fakeSes(issuer);
  relayId = await desk.relayOf(fake);
});
/** A process that has asked for nothing yet. */
const beginAnew = () => {
  asked.length = 0;
  issuer.sink.received.length = 0;
  desk.world.deps.outside = {
    ...issuer.outside,
    fetch: (url, request) => {
      asked.push(url);
      return issuer.outside.fetch(url, request);
    },
  };
};
beforeAll(beginAnew);
afterEach(() => {
  issuer.answerAs(null);
  beginAnew();
});
afterAll(async () => {
  await desk.close();
  await issuer.close();
});

const post = (fields: SnsFields) =>
  desk.post(relayId, {
    raw: JSON.stringify(fields),
    headers: { "content-type": "text/plain; charset=UTF-8" },
  });
const bounceOf = ({ providerId, address }: Sent) =>
  JSON.stringify(fake.tell({ kind: "bounced", providerId, address }));

describe("a notification", () => {
  test("counts by either version of its signature, and its certificate is fetched once", async () => {
    for (const version of ["1", "2"] as const) {
      const mail = await desk.sent(relayId, fake);
      const reply = await post(issuer.message({ Message: bounceOf(mail) }, { version }));
      expect(reply.body).toMatchObject({ recorded: 1 });
      expect(await desk.statusOf(mail.id)).toBe("bounced");
    }
    expect(asked).toEqual([issuer.certificateUrl]);
    expect(issuer.sink.received[0]?.serverName).toBe("sns.us-east-1.amazonaws.com");
  });

  test("of another topic is refused, and nothing is fetched for it", async () => {
    const mail = await desk.sent(relayId, fake);
    for (const TopicArn of [`${topic}s`, topic.replace("us-east-1", "eu-west-1"), topic.replace("1", "2")])
      expect(await post(issuer.message({ TopicArn, Message: bounceOf(mail) }))).toMatchObject(UNAUTHORIZED);
    expect(asked).toEqual([]);
    expect(await desk.statusOf(mail.id)).toBe("sent");
  });

  test("whose certificate lies elsewhere is refused, and nothing is fetched for it", async () => {
    const mail = await desk.sent(relayId, fake);
    const name = "SimpleNotificationService-0123456789abcdef0123456789abcdef.pem";
    for (const SigningCertURL of [
      `https://127.0.0.1:${issuer.sink.port}/${name}`,
      `https://evil.example/${name}`,
      `https://sns.us-east-1.amazonaws.com.evil.example/${name}`,
      `https://sns.eu-west-1.amazonaws.com/${name}`,
      `http://sns.us-east-1.amazonaws.com/${name}`,
      `https://sns.us-east-1.amazonaws.com/other/${name}`,
    ])
      expect(await post(issuer.message({ SigningCertURL, Message: bounceOf(mail) }))).toMatchObject(
        UNAUTHORIZED,
      );
    expect(asked).toEqual([]);
    expect(await desk.statusOf(mail.id)).toBe("sent");
  });

  test("that is signed by another's certificate is refused", async () => {
    const mail = await desk.sent(relayId, fake);
    const other = makeCertificate({
      names: ["sns.amazonaws.com"],
      issuer: makeAuthority("Another authority"),
      isRsa: true,
    });
    const message = issuer.message({ Message: bounceOf(mail) }, { signer: other });
    expect(await post(message)).toMatchObject(UNAUTHORIZED);
    // A certificate that is not at the named place is none, and is looked for anew each time.
    const missing = issuer.certificateUrl.replace(/.{4}\.pem$/, "0000.pem");
    expect(await post(issuer.message({ SigningCertURL: missing, Message: bounceOf(mail) }))).toMatchObject(
      UNAUTHORIZED,
    );
    expect(await desk.statusOf(mail.id)).toBe("sent");
  });

  test("comes again where its certificate cannot be fetched now, over a connection that is trusted", async () => {
    const mail = await desk.sent(relayId, fake);
    const message = issuer.message({ Message: bounceOf(mail) });
    issuer.answerAs(503);
    expect((await post(message)).status).toBe(503);
    const stranger = await startSnsIssuer();
    desk.world.deps.outside = {
      ...issuer.outside,
      // Answers under the name, by a certificate for it from an authority that nobody trusts here.
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

  test("that is SES's word on a new topic is answered and changes nothing", async () => {
    const Message = "Successfully validated SNS topic for Amazon SES event publishing.";
    expect((await post(issuer.message({ Message }))).body).toMatchObject({ recorded: 0, ignored: [] });
  });
});

describe("a subscription", () => {
  const confirmed = () => issuer.sink.received.filter(({ path }) => path.includes("ConfirmSubscription"));

  test("to the relay's topic is confirmed at the host of the topic, with its token", async () => {
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

  test("to another topic, or one that is forged, is not confirmed", async () => {
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

  test("whose address leads elsewhere is confirmed at SNS all the same, and nobody else is called", async () => {
    const message = issuer.message({
      Type: "SubscriptionConfirmation",
      Token: "d".repeat(64),
      SubscribeURL: "http://169.254.169.254/latest/meta-data/",
    });
    expect((await post(message)).status).toBe(200);
    expect(asked.map((url) => new URL(url).host)).toEqual(
      Array.from(asked, () => "sns.us-east-1.amazonaws.com"),
    );
    expect(confirmed()).toHaveLength(1);
  });

  test("comes again where SNS does not hear the answer", async () => {
    expect((await post(issuer.message({ Message: "x" }))).status).toBe(200);
    issuer.answerAs(500);
    expect((await post(issuer.confirmation())).status).toBe(503);
    issuer.answerAs(null);
    expect((await post(issuer.confirmation())).status).toBe(200);
  });

  test("that ended is taken note of, and not begun again", async () => {
    const message = issuer.message({
      Type: "UnsubscribeConfirmation",
      Token: "e".repeat(64),
      SubscribeURL: "https://x",
    });
    expect((await post(message)).body).toMatchObject({ recorded: 0, ignored: [] });
    expect(confirmed()).toEqual([]);
  });
});

test("a complaint that several may have made is recorded of each of them and suppresses nobody", async () => {
  const to = ["one@isp.example", "two@isp.example", "three@other.example"];
  const mail = await desk.sent(relayId, fake, to);
  const complainedRecipients = to.slice(0, 2).map((emailAddress) => ({ emailAddress }));
  const told = {
    notificationType: "Complaint",
    mail: { messageId: mail.providerId, destination: to },
    complaint: { complainedRecipients, feedbackId: "f-9", timestamp: "2026-01-27T14:59:38.237Z" },
  };
  const reply = await post(issuer.message({ Message: JSON.stringify(told) }));
  expect(reply.body).toMatchObject({ recorded: 2, ignored: [] });
  const email = await desk.email(mail.id);
  expect((email.recipients as { status: string }[]).map(({ status }) => status)).toEqual([
    "complained",
    "complained",
    "sent",
  ]);
  for (const address of to) expect(await desk.suppressed(address)).toBeNull();
});
