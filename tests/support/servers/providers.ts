import { createHmac, generateKeyPairSync, randomBytes, sign } from "node:crypto";
import type { RelayProvider } from "#db/schema/relays";
import { newId } from "#server/platform/ids";
import { type SnsIssuer, topic } from "./sns-issuer";

/** What a provider reports. */
export type ProviderReport = {
  kind: "delivered" | "bounced" | "complained" | "delayed";
  providerId: string;
  address: string;
  /** The reply of the recipient's server, for a bounce or a delay. */
  said?: string;
  at?: Date;
};

export type Call = { raw: string; headers: Record<string, string> };

/** A provider that behaves as documented, with a separate account. */
export type FakeProvider = {
  provider: RelayProvider;
  /** What the operator enters for it. */
  given: { secret?: string; topic?: string };
  /** A new message id of the provider. */
  newProviderId(messageId: string): string;
  /** The body of a report, with the fields of the documented samples. */
  report(report: ProviderReport): unknown;
  /** The request with that body, signed at that time. */
  call(body: unknown, at: Date): Call;
};

const json = { "content-type": "application/json" };
const seconds = (at: Date | undefined): number => (at ?? new Date("2026-01-05T10:00:00Z")).getTime() / 1000;
const iso = (at: Date | undefined): string => new Date(seconds(at) * 1000).toISOString();
const noUser = "550 5.1.1 No such user here";

export function fakePostmark(): FakeProvider {
  const secret = randomBytes(24).toString("base64url");
  return {
    provider: "postmark",
    given: { secret },
    newProviderId: (messageId) => messageId.split("@")[0] ?? "",
    report({ kind, providerId, address, said = noUser, at }) {
      const common = {
        MessageID: newId(),
        ServerID: 23,
        MessageStream: "outbound",
        Tag: "welcome-email",
        // The value of the header X-PM-Metadata-backstamp in the email.
        Metadata: { backstamp: providerId },
      };
      if (kind === "delivered")
        return {
          RecordType: "Delivery",
          ...common,
          Recipient: address,
          DeliveredAt: iso(at),
          Details: "Test delivery webhook details",
        };
      const types = {
        bounced: ["Bounce", "HardBounce", 1],
        delayed: ["Bounce", "Transient", 2],
        complained: ["SpamComplaint", "SpamComplaint", 100001],
      } as const;
      const [RecordType, Type, TypeCode] = types[kind];
      return {
        ...{ RecordType, Type, TypeCode, ...common },
        ID: Number.parseInt(randomBytes(6).toString("hex"), 16),
        Name: "Hard bounce",
        Description: "The server was unable to deliver your message (ex: unknown user, mailbox not found).",
        Details: kind === "complained" ? "Test spam complaint details" : `smtp;${said}`,
        Email: address,
        From: "ann@example.org",
        BouncedAt: iso(at),
        DumpAvailable: true,
        Inactive: true,
        CanActivate: kind !== "complained",
        Subject: "Hello",
        Content: "<Full dump of bounce>",
      };
    },
    call: (body) => ({
      raw: JSON.stringify(body),
      headers: { ...json, authorization: `Basic ${Buffer.from(`backstamp:${secret}`).toString("base64")}` },
    }),
  };
}

export function fakeMailgun(): FakeProvider {
  const secret = `key-${randomBytes(16).toString("hex")}`;
  return {
    provider: "mailgun",
    given: { secret },
    newProviderId: (messageId) => messageId,
    report({ kind, providerId, address, said = noUser, at }) {
      const [code, ...words] = said.split(" ");
      const delivery = {
        "delivery-status": {
          "attempt-no": 1,
          code: kind === "delivered" ? 250 : Number(code),
          message: kind === "delivered" ? "OK" : words.join(" "),
          description: "",
          "mx-host": "mx.example.net",
          tls: true,
        },
      };
      return {
        "event-data": {
          event: { delivered: "delivered", complained: "complained", bounced: "failed", delayed: "failed" }[
            kind
          ],
          ...(kind === "bounced" && { severity: "permanent", reason: "bounce" }),
          ...(kind === "delayed" && { severity: "temporary", reason: "generic" }),
          ...(kind === "complained" ? {} : delivery),
          id: randomBytes(16).toString("base64url"),
          timestamp: seconds(at),
          "log-level": "info",
          recipient: address,
          "recipient-domain": "example.net",
          message: { headers: { to: address, "message-id": providerId, from: "ann@example.org" }, size: 341 },
          flags: { "is-test-mode": false },
          tags: [],
          "user-variables": {},
        },
      };
    },
    call(body, at) {
      const timestamp = String(Math.floor(seconds(at)));
      const token = randomBytes(25).toString("hex");
      const signature = createHmac("sha256", secret).update(timestamp).update(token).digest("hex");
      return {
        raw: JSON.stringify({ signature: { timestamp, token, signature }, ...(body as object) }),
        headers: json,
      };
    },
  };
}

export function fakeSendgrid(): FakeProvider {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return {
    provider: "sendgrid",
    given: { secret: publicKey.export({ type: "spki", format: "der" }).toString("base64") },
    newProviderId: () => randomBytes(16).toString("base64url"),
    report({ kind, providerId, address, said = noUser, at }) {
      const more = {
        delivered: { event: "delivered", response: "250 OK" },
        bounced: { event: "bounce", type: "bounce", reason: said, status: "5.0.0", tls: 1 },
        delayed: { event: "deferred", response: said, attempt: "5" },
        complained: { event: "spamreport" },
      }[kind];
      return [
        { event: "processed", email: address, sg_event_id: newId(), timestamp: seconds(at) },
        {
          email: address,
          timestamp: Math.floor(seconds(at)),
          "smtp-id": "<14c5d75ce93.dfd.64b469@ismtpd-555>",
          category: ["cat facts"],
          sg_event_id: newId(),
          sg_message_id: `${providerId}.recvd-5d8bc5c7d-w7m4x-1-65A0B1C2-3.0`,
          ...more,
        },
      ];
    },
    call(body, at) {
      const raw = JSON.stringify(body);
      const timestamp = String(Math.floor(seconds(at)));
      return {
        raw,
        headers: {
          ...json,
          "x-twilio-email-event-webhook-timestamp": timestamp,
          "x-twilio-email-event-webhook-signature": sign(
            "sha256",
            Buffer.from(timestamp + raw),
            privateKey,
          ).toString("base64"),
        },
      };
    },
  };
}

export function fakeResend(): FakeProvider {
  const key = randomBytes(24);
  return {
    provider: "resend",
    given: { secret: `whsec_${key.toString("base64")}` },
    newProviderId: () => newId(),
    report({ kind, providerId, address, said = noUser, at }) {
      const type = {
        delivered: "email.delivered",
        bounced: "email.bounced",
        delayed: "email.delivery_delayed",
        complained: "email.complained",
      }[kind];
      const bounce = {
        type: "Permanent",
        subType: "General",
        message: "The recipient's email provider sent a general bounce message.",
        diagnosticCode: [`smtp; ${said}`],
      };
      return {
        type,
        created_at: iso(at),
        data: {
          created_at: iso(at),
          email_id: providerId,
          from: "Ann <ann@example.org>",
          to: [address],
          subject: "Hello",
          ...(kind === "bounced" && { bounce }),
        },
      };
    },
    call(body, at) {
      const raw = JSON.stringify(body);
      const id = `msg_${randomBytes(20).toString("base64url")}`;
      const timestamp = String(Math.floor(seconds(at)));
      const digest = createHmac("sha256", key).update(`${id}.${timestamp}.${raw}`).digest("base64");
      const old = createHmac("sha256", "the one before").update(raw).digest("base64");
      return {
        raw,
        headers: {
          ...json,
          "svix-id": id,
          "svix-timestamp": timestamp,
          "svix-signature": `v1,${old} v1,${digest}`,
        },
      };
    },
  };
}

export function fakeSes(issuer: SnsIssuer): FakeProvider {
  return {
    provider: "ses",
    given: { topic },
    newProviderId: () => `0100${randomBytes(6).toString("hex")}-${newId()}-000000`,
    report({ kind, providerId, address, said = noUser, at }) {
      const mail = {
        timestamp: iso(at),
        source: "ann@example.org",
        sourceArn: "arn:aws:ses:us-east-1:888888888888:identity/example.org",
        sendingAccountId: "123456789012",
        messageId: providerId,
        destination: [address],
      };
      const recipient = {
        emailAddress: address,
        status: said.split(" ")[1],
        diagnosticCode: `smtp; ${said}`,
      };
      const common = { timestamp: iso(at), reportingMTA: "dns; a8-70.smtp-out.amazonses.com" };
      const feedback = { ...common, feedbackId: `${newId()}-000000`, remoteMtaIp: "192.0.2.1" };
      switch (kind) {
        case "delivered": {
          const smtpResponse = "250 ok:  Message 64111812 accepted";
          const delivery = { ...common, processingTimeMillis: 546, recipients: [address], smtpResponse };
          return { notificationType: "Delivery", mail, delivery };
        }
        case "complained": {
          const complainedRecipients = [{ emailAddress: address }];
          const complaint = { ...feedback, complainedRecipients, complaintFeedbackType: "abuse" };
          return { notificationType: "Complaint", mail, complaint };
        }
        case "delayed": {
          const deliveryDelay = {
            ...common,
            delayType: "TransientCommunicationFailure",
            delayedRecipients: [recipient],
          };
          return { eventType: "DeliveryDelay", mail, deliveryDelay };
        }
        case "bounced": {
          const kind = { bounceType: "Permanent", bounceSubType: "General" };
          const bounce = { ...feedback, ...kind, bouncedRecipients: [{ ...recipient, action: "failed" }] };
          return { notificationType: "Bounce", mail, bounce };
        }
      }
    },
    call: (body, at) => ({
      raw: JSON.stringify(
        issuer.message(
          { Message: JSON.stringify(body), Subject: "Amazon SES Email Event Notification" },
          { at },
        ),
      ),
      headers: { "content-type": "text/plain; charset=UTF-8" },
    }),
  };
}
