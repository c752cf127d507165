import { sign } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { Callback } from "#server/mail/callbacks/callback";
import {
  certificateUrlOf,
  confirmationUrlOf,
  hostOfTopic,
  judgeSnsMessage,
  parseSnsMessage,
  providerOfTopic,
  type SnsMessage,
} from "#server/mail/callbacks/sns";
import { makeAuthority, makeCertificate } from "../../support/servers/certificate";

const call = (raw: string): Callback => ({ bytes: Buffer.from(raw), header: () => null });
const later = (seconds: number, from: number) => new Date((from + seconds) * 1000);

describe("an SNS message", () => {
  const topic = "arn:aws:sns:us-east-1:123456789012:mail";
  const authority = makeAuthority("An authority of this test");
  const validFrom = new Date("2026-11-01T00:00:00Z");
  const signer = makeCertificate({
    names: ["sns.amazonaws.com"],
    issuer: authority,
    isRsa: true,
    validFrom,
    validTo: new Date("2026-12-01T00:00:00Z"),
  });
  const at = Date.parse("2026-11-21T10:00:00.000Z") / 1000;
  const parts = {
    Type: "Notification",
    MessageId: "22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324",
    TopicArn: topic,
    Subject: "My First Message",
    Message: "Hello world!\n",
    Timestamp: "2026-11-21T10:00:00.000Z",
    SigningCertURL: "https://sns.us-east-1.amazonaws.com/SimpleNotificationService-f3ecfb7224c7233f.pem",
  };
  /** The text to sign, as documented: names in this order, each name and value on a separate line. */
  const texts = {
    Notification:
      "Message\nHello world!\n\nMessageId\n22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324\nSubject\nMy First Message\nTimestamp\n2026-11-21T10:00:00.000Z\nTopicArn\narn:aws:sns:us-east-1:123456789012:mail\nType\nNotification\n",
    SubscriptionConfirmation:
      "Message\nHello world!\n\nMessageId\n22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324\nSubscribeURL\nhttps://x\nTimestamp\n2026-11-21T10:00:00.000Z\nToken\n2336\nTopicArn\narn:aws:sns:us-east-1:123456789012:mail\nType\nSubscriptionConfirmation\n",
  };
  const message = (
    version: "1" | "2",
    type: keyof typeof texts = "Notification",
    change: object = {},
  ): SnsMessage => {
    const Signature = sign(version === "1" ? "sha1" : "sha256", Buffer.from(texts[type]), signer.key);
    const more = type === "Notification" ? {} : { Token: "2336", SubscribeURL: "https://x" };
    const whole = { ...parts, Type: type, ...more, SignatureVersion: version, ...change };
    const read = parseSnsMessage(call(JSON.stringify({ Signature: Signature.toString("base64"), ...whole })));
    if (!read) throw new Error("it is none");
    return read;
  };
  const judge = (given: SnsMessage, seconds = 0, certificate = signer.cert) =>
    judgeSnsMessage(given, certificate, later(seconds, at));

  test("is authentic with either signature version, over the documented text", () => {
    for (const type of ["Notification", "SubscriptionConfirmation"] as const)
      for (const version of ["1", "2"] as const)
        expect({ type, version, verdict: judge(message(version, type)) }).toEqual({
          type,
          version,
          verdict: "genuine",
        });
  });

  test.each([
    { Message: "Hello world!" },
    { Subject: "Another" },
    { Subject: null },
    { MessageId: "x" },
    { TopicArn: `${topic}s` },
    { Timestamp: "2026-11-21T10:00:01.000Z" },
    { SignatureVersion: "1" },
    { Signature: "AAAA" },
  ])("is forged if it was changed to %j", (change) => {
    expect(judge(message("2", "Notification", change))).toBe("forged");
  });

  test("is rejected with another, an expired or an invalid certificate", () => {
    const other = makeCertificate({ names: ["sns.amazonaws.com"], issuer: authority, isRsa: true });
    const forEc = makeCertificate({ names: ["sns.amazonaws.com"] });
    for (const certificate of [other.cert, forEc.cert, "", "-----BEGIN CERTIFICATE-----"])
      expect(judge(message("2"), 0, certificate)).toBe("forged");
    expect(judge(message("2"), 60 * 86_400)).toBe("forged");
  });

  test("is valid for one day", () => {
    expect(judge(message("2"), 86_399)).toBe("genuine");
    expect(judge(message("2"), 86_401)).toBe("expired");
  });

  test.each(["", "{}", "[]", "null", '{"Type":"Notification"}', "\ufeff"])(
    "is rejected if malformed: %j",
    (raw) => {
      expect(parseSnsMessage(call(raw))).toBeNull();
    },
  );

  test("has its certificate only at the SNS host of its topic's region", () => {
    const at = (SigningCertURL: string) => certificateUrlOf({ ...message("2"), SigningCertURL }, topic);
    const path = "SimpleNotificationService-f3ecfb7224c7233f.pem";
    expect(at(parts.SigningCertURL)).toBe(parts.SigningCertURL);
    for (const odd of [
      `http://sns.us-east-1.amazonaws.com/${path}`,
      `https://sns.eu-west-1.amazonaws.com/${path}`,
      `https://sns.us-east-1.amazonaws.com.evil.example/${path}`,
      `https://sns.us-east-1.amazonaws.com@evil.example/${path}`,
      `https://evil.example/sns.us-east-1.amazonaws.com/${path}`,
      `https://evil.example#sns.us-east-1.amazonaws.com/${path}`,
      `https://sns.us-east-1.amazonaws.com:8443/${path}`,
      `https://sns.us-east-1.amazonaws.com\\@evil.example/${path}`,
      `https://mail.s3.us-east-1.amazonaws.com/${path}`,
      `https://SNS.us-east-1.amazonaws.com/${path}`,
      "https://sns.us-east-1.amazonaws.com/?Action=GetSubscriptionAttributes&x=.pem",
      `https://sns.us-east-1.amazonaws.com/a/../${path}`,
      `https://sns.us-east-1.amazonaws.com/${path}?x=1`,
      `https://sns.us-east-1.amazonaws.com/${path}\n`,
      "",
    ])
      expect(at(odd), odd).toBeNull();
  });

  test("has a topic of a known partition, which determines the host", () => {
    expect(hostOfTopic("arn:aws-cn:sns:cn-north-1:123456789012:a")).toBe("sns.cn-north-1.amazonaws.com.cn");
    expect(hostOfTopic("arn:aws-us-gov:sns:us-gov-west-1:123456789012:a")).toBe(
      "sns.us-gov-west-1.amazonaws.com",
    );
    for (const odd of [
      "",
      "arn:aws:sqs:us-east-1:123456789012:a",
      "arn:aws:sns:evil.example/:123456789012:a",
      "arn:aws:sns:us-east-1:12345:a",
      "arn:aws:sns:us-east-1:123456789012:a b",
      `${topic}\n`,
    ])
      expect(providerOfTopic(odd), odd).toBeNull();
  });

  test("is confirmed at a URL that is built here; only the token comes from the message", () => {
    const url = new URL(confirmationUrlOf(topic, "a&TopicArn=other#"));
    expect(url.origin).toBe("https://sns.us-east-1.amazonaws.com");
    expect([...url.searchParams]).toEqual([
      ["Action", "ConfirmSubscription"],
      ["TopicArn", topic],
      ["Token", "a&TopicArn=other#"],
    ]);
  });
});
