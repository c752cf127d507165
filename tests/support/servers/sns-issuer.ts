import { randomBytes, sign } from "node:crypto";
import { createOutside, type Outside } from "#server/platform/egress/outside";
import { newId } from "#server/platform/ids";
import { type Certificate, makeAuthority, makeCertificate } from "./certificate";
import { addressRecords, startDnsTestServer } from "./dns-test-server";
import { type HttpSink, type SinkReply, startHttpSink } from "./http-sink";

export const topic = "arn:aws:sns:us-east-1:123456789012:mail";
export const scalewayTopic = "arn:scw:sns:fr-par:project-0a1b2c3d-4e5f-6a7b-8c9d-0e1f2a3b4c5d:mail";

/** The topic of a service, its host, and the one with its certificates and their authorities. */
const SERVICES = {
  amazon: { topic, host: "sns.us-east-1.amazonaws.com", store: "sns.us-east-1.amazonaws.com" },
  scaleway: {
    topic: scalewayTopic,
    host: "sns.mnq.fr-par.scaleway.com",
    store: "messaging.s3.fr-par.scw.cloud",
  },
};
const authoritiesPath = "/fr-par/sns/sns-trust-chain.pem";

export type SnsFields = Record<string, string | null>;

/**
 * A stub of Amazon SNS, or of the same service of Scaleway, on loopback: DNS, TLS with a test authority,
 * signing certificates, and confirmation of subscriptions. `outside` is the real HTTP client, configured to
 * trust that authority and to use another port.
 */
export type SnsIssuer = {
  outside: Outside;
  /** The received requests. */
  sink: HttpSink;
  certificateUrl: string;
  /** Creates a message that is signed by the service's certificate, or by the given one. */
  message(fields: SnsFields, options?: { version?: "1" | "2"; at?: Date; signer?: Certificate }): SnsFields;
  /** The same with a subscription token. */
  confirmation(token?: string): SnsFields;
  /** A certificate at the service that another authority with the same name issued. */
  stranger: { certificate: Certificate; url: string };
  /** Makes the service respond differently until it is called with null. */
  answerAs(reply: SinkReply | null): void;
  close(): Promise<void>;
};

export async function startSnsIssuer(service: keyof typeof SERVICES = "amazon"): Promise<SnsIssuer> {
  const { topic, host, store } = SERVICES[service];
  const authority = makeAuthority("An authority of this test");
  const signer = makeCertificate({ names: ["sns.amazonaws.com"], issuer: authority, isRsa: true });
  const path = `/SimpleNotificationService-${randomBytes(16).toString("hex")}.pem`;
  const stranger = makeCertificate({
    names: ["sns.amazonaws.com"],
    issuer: makeAuthority("An authority of this test"),
    isRsa: true,
  });
  let other: SinkReply | null = null;
  const sink = await startHttpSink(
    (request) => {
      if (other !== null) return other;
      if (request.path === path) return { status: 200, body: signer.cert };
      if (request.path === "/stranger.pem") return { status: 200, body: stranger.cert };
      if (request.path === authoritiesPath) return { status: 200, body: authority.cert };
      return request.path.startsWith("/?Action=ConfirmSubscription&") ? { status: 200, body: "<ok/>" } : 404;
    },
    { certificate: makeCertificate({ names: [host, store], issuer: authority }) },
  );
  const names = await startDnsTestServer((question) =>
    question.name === host || question.name === store
      ? { answers: addressRecords(question, ["127.0.0.1"]) }
      : null,
  );
  const real = createOutside({
    allow: ["127.0.0.0/8"],
    nameServers: [{ host: names.host, port: names.port }],
    ca: [authority.cert],
  });
  const message: SnsIssuer["message"] = (fields, options = {}) => {
    const { version = "2", at = new Date(), signer: by = signer } = options;
    const whole: SnsFields = {
      Type: "Notification",
      MessageId: newId(),
      TopicArn: topic,
      Message: "{}",
      Timestamp: at.toISOString(),
      SignatureVersion: version,
      SigningCertURL: `https://${store}${path}`,
      ...fields,
    };
    const signed = [
      "Message",
      "MessageId",
      "SubscribeURL",
      "Subject",
      "Timestamp",
      "Token",
      "TopicArn",
      "Type",
    ]
      .sort()
      .flatMap((name) => (typeof whole[name] === "string" ? [name, whole[name], ""].slice(0, 2) : []))
      .map((line) => `${line}\n`)
      .join("");
    const hash = version === "1" ? "sha1" : "sha256";
    return { ...whole, Signature: sign(hash, Buffer.from(signed), by.key).toString("base64") };
  };
  return {
    outside: {
      ...real,
      fetch: (url, request) => real.fetch(url.replace(/^(https:\/\/[^/:]+)\//, `$1:${sink.port}/`), request),
    },
    sink,
    certificateUrl: `https://${store}${path}`,
    stranger: { certificate: stranger, url: `https://${store}/stranger.pem` },
    message,
    confirmation: (token = "a".repeat(64)) =>
      message({
        Type: "SubscriptionConfirmation",
        Message: `You have chosen to subscribe to the topic ${topic}.`,
        Token: token,
        SubscribeURL: `https://${host}/?Action=ConfirmSubscription&TopicArn=${topic}&Token=${token}`,
      }),
    answerAs: (reply) => {
      other = reply;
    },
    close: async () => {
      await real.close();
      await names.close();
      await sink.close();
    },
  };
}
