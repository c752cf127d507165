import { verify, X509Certificate } from "node:crypto";
import { z } from "zod";
import { judgeAge } from "./age";
import type { Callback, Verdict } from "./callback";

/** SNS tries an endpoint for an hour, unless its owner asked for more. */
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

/** A message of Amazon's notification service (SNS), as its HTTP endpoints receive it. Nothing of it is proven yet. */
export type SnsMessage = z.infer<typeof Message>;

/** Reads one; null where the bytes are none. */
export function readSnsMessage({ bytes }: Callback): SnsMessage | null {
  try {
    const read = Message.safeParse(JSON.parse(Buffer.from(bytes).toString()));
    return read.success ? read.data : null;
  } catch {
    return null;
  }
}

/** `arn:aws:sns:us-east-1:123456789012:bounces`. Partitions and regions are Amazon's to add. */
const TOPIC =
  /^arn:(aws|aws-cn|aws-us-gov):sns:([a-z]{2}(?:-[a-z]+){1,3}-\d{1,2}):\d{12}:[\w-]{1,256}(\.fifo)?$/;

export const isTopic = (text: string): boolean => TOPIC.test(text);

/**
 * The one host that speaks for a topic: the service itself in the topic's region. Null for what is no topic. Everything that
 * is fetched because of a message is fetched there, whatever the message names.
 */
export function hostOfTopic(topic: string): string | null {
  const [, partition, region] = TOPIC.exec(topic) ?? [];
  if (region === undefined) return null;
  return `sns.${region}.amazonaws.com${partition === "aws-cn" ? ".cn" : ""}`;
}

/** Where the certificate of a message lies, if that is a place where the service of its topic keeps them; else null. */
export function certificateUrlOf({ SigningCertURL: url }: SnsMessage, topic: string): string | null {
  const host = hostOfTopic(topic);
  const [, from] =
    /^https:\/\/([a-z0-9.-]+)\/SimpleNotificationService-[0-9A-Za-z]{1,64}\.pem$/.exec(url) ?? [];
  return host !== null && from === host ? url : null;
}

/** The address that confirms a subscription. Not the one in the message, of which no more is taken than its token. */
export function confirmationUrlOf(topic: string, token: string): string {
  const query = new URLSearchParams({ Action: "ConfirmSubscription", TopicArn: topic, Token: token });
  return `https://${hostOfTopic(topic)}/?${query}`;
}

const HASHES = { "1": "sha1", "2": "sha256" } as const;

/**
 * Checks the signature of a message by the certificate of its service, RSA over the fields that SNS documents ("Verifying
 * the signatures of Amazon SNS messages"), each name and value on a line of its own, and its age.
 */
export function judgeSnsMessage(message: SnsMessage, certificate: string, now: Date): Verdict {
  const key = keyIn(certificate, now);
  const signature = Buffer.from(message.Signature, "base64");
  if (!key || !verify(HASHES[message.SignatureVersion], Buffer.from(signedText(message)), key, signature))
    return "forged";
  return judgeAge(Date.parse(message.Timestamp) / 1_000, now, ageSecondsMax);
}

function signedText(message: SnsMessage): string {
  const { Message, MessageId, Timestamp, TopicArn, Type } = message;
  const fields =
    message.Type === "Notification"
      ? { Message, MessageId, Subject: message.Subject, Timestamp, TopicArn, Type }
      : {
          Message,
          MessageId,
          SubscribeURL: message.SubscribeURL,
          Timestamp,
          Token: message.Token,
          TopicArn,
          Type,
        };
  return Object.entries(fields)
    .map(([name, value]) => (typeof value === "string" ? `${name}\n${value}\n` : ""))
    .join("");
}

/** The key of a certificate that is valid now, if it is one for RSA. */
function keyIn(pem: string, now: Date) {
  try {
    const { publicKey, validFrom, validTo } = new X509Certificate(pem);
    const isValid = new Date(validFrom) <= now && now <= new Date(validTo);
    return isValid && publicKey.asymmetricKeyType === "rsa" ? publicKey : null;
  } catch {
    return null;
  }
}

/** Whether this is a certificate at all. */
export function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).publicKey.asymmetricKeyType === "rsa";
  } catch {
    return false;
  }
}
