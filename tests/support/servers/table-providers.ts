import { createHmac, randomBytes, randomInt } from "node:crypto";
import { newId } from "#server/platform/ids";
import type { FakeProvider, ProviderReport } from "./providers";
import { type SnsIssuer, scalewayTopic } from "./sns-issuer";

/* Providers with the fields of their documented samples that identify an event and say what it means. */

const json = { "content-type": "application/json" };
const msOf = ({ at }: ProviderReport): number => (at ?? new Date("2026-01-05T10:00:00Z")).getTime();
const saidBy = ({ kind, said }: ProviderReport): string =>
  said ?? (kind === "delivered" ? "250 2.0.0 OK" : "550 5.1.1 No such user here");
const idOf = (messageId: string): string => messageId.split("@")[0] ?? "";
const basic = (secret: string) => `Basic ${Buffer.from(`backstamp:${secret}`).toString("base64")}`;

/** A provider that sends a secret of ours with each call. */
function withSecret(
  fake: Pick<FakeProvider, "provider" | "newProviderId" | "report">,
  authorizationOf = basic,
): FakeProvider {
  const secret = randomBytes(24).toString("base64url");
  const headers = { ...json, authorization: authorizationOf(secret) };
  return { ...fake, given: { secret }, call: (body) => ({ raw: JSON.stringify(body), headers }) };
}

export const fakeBrevo = (): FakeProvider =>
  withSecret(
    {
      provider: "brevo",
      newProviderId: () => `2026113011.${randomInt(1e11)}@smtp-relay.mailin.fr`,
      report: (report) => ({
        event: { delivered: "delivered", bounced: "hard_bounce", delayed: "deferred", complained: "spam" }[
          report.kind
        ],
        email: report.address,
        "message-id": `<${report.providerId}>`,
        ts_epoch: msOf(report),
        reason: ` RecipientError: ${saidBy(report)}`,
      }),
    },
    (secret) => `Bearer ${secret}`,
  );

export const fakeMailjet = (): FakeProvider =>
  withSecret({
    provider: "mailjet",
    newProviderId: idOf,
    report(report) {
      const more = {
        delivered: { event: "sent", smtp_reply: "sent (250 2.0.0 OK 1433333948 fa5si855896wjc.199 - gsmtp)" },
        bounced: { event: "bounce", blocked: true, hard_bounce: true, error: "user unknown" },
        delayed: { event: "bounce", blocked: false, hard_bounce: false, error: "greylisted" },
        complained: { event: "spam", source: "JMRPP" },
      }[report.kind];
      const common = { time: Math.floor(msOf(report) / 1000), MessageID: 19421777835146490 };
      return [
        {
          ...common,
          email: report.address,
          CustomID: report.providerId,
          comment: saidBy(report),
          ...more,
        },
      ];
    },
  });

export const fakeSparkpost = (): FakeProvider =>
  withSecret({
    provider: "sparkpost",
    newProviderId: idOf,
    report(report) {
      const types = {
        delivered: "delivery",
        bounced: "bounce",
        delayed: "delay",
        complained: "spam_complaint",
      };
      const event = {
        type: types[report.kind],
        event_id: String(randomInt(1e14)),
        rcpt_meta: { backstamp: report.providerId },
        rcpt_to: report.address.toLowerCase(),
        raw_rcpt_to: report.address,
        timestamp: String(Math.floor(msOf(report) / 1000)),
        bounce_class: "10",
        error_code: saidBy(report).slice(0, 3),
        raw_reason: saidBy(report),
      };
      return [{ msys: { message_event: event } }, { msys: {} }];
    },
  });

export function fakeMailersend(): FakeProvider {
  const secret = randomBytes(16).toString("hex");
  const types = {
    delivered: "delivered",
    bounced: "hard_bounced",
    delayed: "deferred",
    complained: "spam_complaint",
  };
  return {
    provider: "mailersend",
    given: { secret },
    newProviderId: () => randomBytes(12).toString("hex"),
    report: (report) => ({
      type: `activity.${types[report.kind]}`,
      data: {
        id: randomBytes(12).toString("hex"),
        created_at: new Date(msOf(report)).toISOString(),
        email: {
          message: { object: "message", id: report.providerId },
          recipient: { object: "recipient", email: report.address },
        },
        morph: { object: "recipient_bounce", reason: saidBy(report) },
      },
    }),
    call(body) {
      const raw = JSON.stringify(body).replaceAll("/", "\\/");
      const signature = createHmac("sha256", secret).update(raw).digest("hex");
      return { raw, headers: { ...json, signature } };
    },
  };
}

/** Scaleway reports no complaints. */
export const fakeScaleway = (issuer: SnsIssuer): FakeProvider => ({
  provider: "scaleway",
  given: { topic: scalewayTopic },
  newProviderId: (messageId) => messageId,
  report(report) {
    const types = {
      delivered: "delivered",
      bounced: "mailbox_not_found",
      delayed: "deferred",
      complained: "spam",
    };
    const [code, ...words] = saidBy(report).split(" ");
    return {
      id: newId(),
      type: `email_${types[report.kind]}`,
      created_at: new Date(msOf(report)).toISOString(),
      email_to: report.address,
      email_headers: [{ name: "Message-ID", value: `<${report.providerId}>` }],
      email_response_code: Number(code),
      email_response_message: words.join(" "),
    };
  },
  call: (body, at) => ({
    raw: JSON.stringify(issuer.message({ Message: JSON.stringify(body) }, { at })),
    headers: { "content-type": "text/plain; charset=UTF-8" },
  }),
});
