import { verify, X509Certificate } from "node:crypto";
import { z } from "zod";
import { type Callback, judgeAge, type Verdict } from "./callback";
import { readJson } from "./provider-fields";

/** SNS retries a message for one hour by default; the topic's owner can configure more. */
const ageSecondsMax = 86_400;

const Text = z.string().max(1_000_000);

const Common = {
  MessageId: Text,
  TopicArn: Text,
  Timestamp: z.iso.datetime(),
  Message: Text,
  Signature: z.string().regex(/^[\w+/=]{1,2000}$/),
  SignatureVersion: z.enum(["1", "2"]),
  SigningCertURL: z.string().max(500),
};
const Message = z.discriminatedUnion("Type", [
  z.object({ Type: z.literal("Notification"), Subject: Text.nullish(), ...Common }),
  z.object({
    Type: z.enum(["SubscriptionConfirmation", "UnsubscribeConfirmation"]),
    SubscribeURL: Text,
    Token: z.string().min(1).max(5_000),
    ...Common,
  }),
]);

/** A message of Amazon SNS as sent to an HTTP endpoint. Its signature is not verified yet. */
export type SnsMessage = z.infer<typeof Message>;

/** Parses a message; null if the bytes are invalid. */
export const parseSnsMessage = (callback: Callback): SnsMessage | null => readJson(Message, callback);

/** Matches `arn:aws:sns:us-east-1:123456789012:bounces`. Amazon may add partitions and regions. */
const TOPIC =
  /^arn:(aws|aws-cn|aws-us-gov):sns:([a-z]{2}(?:-[a-z]+){1,3}-\d{1,2}):\d{12}:[\w-]{1,256}(\.fifo)?$/;

export const isTopic = (text: string): boolean => TOPIC.test(text);

/**
 * The SNS host of the topic's region; null if the ARN is invalid. All requests triggered by a message go to
 * this host, whatever URL the message contains.
 */
export function hostOfTopic(topic: string): string | null {
  const [, partition, region] = TOPIC.exec(topic) ?? [];
  if (region === undefined) return null;
  return `sns.${region}.amazonaws.com${partition === "aws-cn" ? ".cn" : ""}`;
}

/** The URL of the signing certificate if it is on the SNS host of the topic; else null. */
export function certificateUrlOf({ SigningCertURL: url }: SnsMessage, topic: string): string | null {
  const host = hostOfTopic(topic);
  const [, urlHost] =
    /^https:\/\/([a-z0-9.-]+)\/SimpleNotificationService-[0-9A-Za-z]{1,64}\.pem$/.exec(url) ?? [];
  return host !== null && urlHost === host ? url : null;
}

/**
 * The URL that confirms a subscription. Built from the topic and the token; the URL in the message is not
 * trusted.
 */
export function confirmationUrlOf(topic: string, token: string): string {
  const query = new URLSearchParams({ Action: "ConfirmSubscription", TopicArn: topic, Token: token });
  return `https://${hostOfTopic(topic)}/?${query}`;
}

const HASHES = { "1": "sha1", "2": "sha256" } as const;

/**
 * Verifies the age and the signature of a message: RSA over the fields that SNS documents ("Verifying the
 * signatures of Amazon SNS messages"), each name and value on its own line. `certificate` is PEM.
 */
export function judgeSnsMessage(message: SnsMessage, certificate: string, now: Date): Verdict {
  const read = readCertificate(certificate);
  const isValid = read && new Date(read.validFrom) <= now && now <= new Date(read.validTo);
  if (!isValid) return "forged";
  const [signed, signature] = [formatSignedText(message), Buffer.from(message.Signature, "base64")];
  if (!verify(HASHES[message.SignatureVersion], Buffer.from(signed), read.publicKey, signature))
    return "forged";
  return judgeAge(Date.parse(message.Timestamp) / 1_000, now, ageSecondsMax);
}

/** In order. A notification has no `SubscribeURL` and `Token`; the other messages have no `Subject`. */
const SIGNED_FIELDS = "Message MessageId SubscribeURL Subject Timestamp Token TopicArn Type".split(" ");

function formatSignedText(message: SnsMessage): string {
  const fields = new Map<string, unknown>(Object.entries(message));
  return SIGNED_FIELDS.filter((name) => typeof fields.get(name) === "string")
    .map((name) => `${name}\n${fields.get(name)}\n`)
    .join("");
}

/** Parses a PEM certificate with an RSA key; null for anything else. */
function readCertificate(pem: string): X509Certificate | null {
  try {
    const certificate = new X509Certificate(pem);
    return certificate.publicKey.asymmetricKeyType === "rsa" ? certificate : null;
  } catch {
    return null;
  }
}

/** Whether this is a PEM certificate with an RSA key. */
export const isCertificate = (pem: string): boolean => readCertificate(pem) !== null;
