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
/** Matches `arn:scw:sns:fr-par:project-0a1b2c3d-…:events`, of Scaleway Topics and Events. */
const SCALEWAY_TOPIC = /^arn:scw:sns:([a-z]{2}-[a-z]{3}):project-[0-9a-f-]{1,36}:[\w-]{1,256}(\.fifo)?$/;

/** The provider whose events are published to a topic; null if the ARN is invalid. */
export const providerOfTopic = (topic: string): "ses" | "scaleway" | null =>
  TOPIC.test(topic) ? "ses" : SCALEWAY_TOPIC.test(topic) ? "scaleway" : null;

/**
 * The SNS host of the topic's region; null if the ARN is invalid. All requests triggered by a message go to
 * this host, whatever URL the message contains. Only certificates of Scaleway are on another one.
 */
export function hostOfTopic(topic: string): string | null {
  const [, scalewayRegion] = SCALEWAY_TOPIC.exec(topic) ?? [];
  if (scalewayRegion !== undefined) return `sns.mnq.${scalewayRegion}.scaleway.com`;
  const [, partition, region] = TOPIC.exec(topic) ?? [];
  if (region === undefined) return null;
  return `sns.${region}.amazonaws.com${partition === "aws-cn" ? ".cn" : ""}`;
}

/** The host of Scaleway's certificates and authorities ("Verifying webhook signatures"). */
const scalewayStore = "messaging.s3.fr-par.scw.cloud";

/** The URL of the signing certificate if it is where the topic's provider publishes it; else null. */
export function certificateUrlOf({ SigningCertURL: url }: SnsMessage, topic: string): string | null {
  if (providerOfTopic(topic) === "scaleway")
    return url.startsWith(`https://${scalewayStore}/`) && /^[\w/.:-]+\.pem$/.test(url) ? url : null;
  const host = hostOfTopic(topic);
  const [, urlHost] =
    /^https:\/\/([a-z0-9.-]+)\/SimpleNotificationService-[0-9A-Za-z]{1,64}\.pem$/.exec(url) ?? [];
  return host !== null && urlHost === host ? url : null;
}

/**
 * The URL of the authorities that must have issued the signing certificate; null for Amazon, whose
 * certificate is on the host of SNS itself.
 */
export function authoritiesUrlOf(topic: string): string | null {
  const [, region] = SCALEWAY_TOPIC.exec(topic) ?? [];
  return region === undefined ? null : `https://${scalewayStore}/${region}/sns/sns-trust-chain.pem`;
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
 * signatures of Amazon SNS messages"), each name and value on its own line. `certificate` is PEM, and so are
 * the `authorities` of which one must have issued it; null if none is required.
 */
export function judgeSnsMessage(
  message: SnsMessage,
  certificate: string,
  now: Date,
  authorities: string | null = null,
): Verdict {
  const read = readCertificate(certificate);
  const isCurrent = (each: X509Certificate) =>
    new Date(each.validFrom) <= now && now <= new Date(each.validTo);
  if (read?.publicKey.asymmetricKeyType !== "rsa" || !isCurrent(read)) return "forged";
  const isIssued = (by: X509Certificate) =>
    by.ca && isCurrent(by) && read.checkIssued(by) && read.verify(by.publicKey);
  if (authorities !== null && !readCertificates(authorities).some(isIssued)) return "forged";
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

const certificatesMax = 16;

/** The certificates of a PEM file; those that cannot be parsed are left out. */
const readCertificates = (pem: string): X509Certificate[] =>
  pem
    .split(/(?=-----BEGIN CERTIFICATE-----)/, certificatesMax)
    .flatMap((text) => readCertificate(text) ?? []);

/** Parses a PEM certificate; null for anything else. */
function readCertificate(pem: string): X509Certificate | null {
  try {
    return new X509Certificate(pem);
  } catch {
    return null;
  }
}

/** Whether this begins with a PEM certificate. */
export const isCertificate = (pem: string): boolean => readCertificate(pem) !== null;
