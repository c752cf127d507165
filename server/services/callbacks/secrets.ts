import { randomBytes } from "node:crypto";
import { eq } from "drizzle-orm";
import type { HotSql } from "#db/client";
import { type RelayProvider, relays } from "#db/schema/relays";
import type { Deps } from "#server/deps";
import { parseSigningSecret } from "#server/mail/callbacks/resend";
import { parseVerificationKey } from "#server/mail/callbacks/sendgrid";
import { providerOfTopic } from "#server/mail/callbacks/sns";
import { AppError } from "#server/platform/errors";
import { SEALED } from "#server/platform/secrets/sealed-columns";
import type { RelayView } from "../relays/read";

/** Display names of the providers. */
export const PROVIDER_NAMES: Readonly<Record<RelayProvider, string>> = {
  ses: "Amazon SES",
  postmark: "Postmark",
  mailgun: "Mailgun",
  sendgrid: "SendGrid",
  resend: "Resend",
  brevo: "Brevo",
  mailjet: "Mailjet",
  sparkpost: "SparkPost",
  scaleway: "Scaleway",
  mailersend: "MailerSend",
};

/** Providers that publish to a topic, which is set instead of a secret. */
export type TopicProvider = "ses" | "scaleway";
export type SecretProvider = Exclude<RelayProvider, TopicProvider>;

export const hasTopic = (provider: RelayProvider): provider is TopicProvider =>
  provider === "ses" || provider === "scaleway";

/** Providers that issue no secret: one is generated if none is given. */
const SECRETLESS: ReadonlySet<RelayProvider> = new Set(["postmark", "brevo", "mailjet", "sparkpost"]);

/** Whether `setCallback` generates the secret of a provider. */
export const generatesSecret = (provider: RelayProvider | null): boolean =>
  provider !== null && SECRETLESS.has(provider);

/** A relay with its settings for callbacks. `secret` is sealed. */
export type CallbackRelay = Pick<RelayView, "id" | "teamId" | "provider"> & {
  secret: string | null;
  topic: string | null;
};

/** The relay with this id, or null. */
export async function getCallbackRelay(hot: HotSql, id: string): Promise<CallbackRelay | null> {
  const [relay] = await hot<CallbackRelay[]>`
    select id, team_id as "teamId", coalesce(provider, added_provider) as provider, callback_secret as secret, callback_topic as topic
    from relays where id = ${id}`;
  return relay ?? null;
}

type RelayName = Pick<RelayView, "id" | "name" | "provider">;

/** The path to which a relay's provider sends callbacks, below the public URL. */
export const callbackPathOf = (relayId: string): string => `/api/inbound/relays/${relayId}`;

/** The secret is bound to the provider it was set for, so it is not used if the relay's provider changes. */
const boundSecret = (provider: RelayProvider, secret: string): string => `${provider}:${secret}`;

/** The secret that authenticates a relay's provider; null if none was set for this provider. */
export function openCallbackSecret(
  { vault }: Pick<Deps, "vault">,
  { id, provider, secret }: CallbackRelay,
): string | null {
  if (provider === null || secret === null) return null;
  const bound = vault.open(secret, SEALED.callbackSecret.locationOf({ id }));
  const prefix = boundSecret(provider, "");
  return bound.startsWith(prefix) ? bound.slice(prefix.length) : null;
}

/**
 * Sets the credential of a relay's provider and enables callbacks: the topic for SES and Scaleway, the secret
 * for the others. Returns the secret if it was generated here, because the provider issues none.
 */
export async function setCallback(
  { db, vault }: Pick<Deps, "db" | "vault">,
  relay: RelayName,
  given: { secret?: string; topic?: string },
): Promise<string | null> {
  const { id, provider } = relay;
  if (provider === null)
    throw new AppError(
      "invalid",
      `The provider of ${relay.name} is not set. Set it first: relay set ${relay.name} --provider NAME`,
    );
  if (hasTopic(provider)) {
    const topic = readTopic(provider, given);
    await db.update(relays).set({ callbackTopic: topic, callbackSecret: null }).where(eq(relays.id, id));
    return null;
  }
  if (given.topic !== undefined)
    throw new AppError("invalid", `${PROVIDER_NAMES[provider]} does not use topics. Set its secret.`);
  const isMade = given.secret === undefined && generatesSecret(provider);
  const secret = isMade ? randomBytes(24).toString("base64url") : readSecret(provider, given.secret ?? "");
  const sealed = vault.seal(boundSecret(provider, secret), SEALED.callbackSecret.locationOf({ id }));
  await db.update(relays).set({ callbackSecret: sealed, callbackTopic: null }).where(eq(relays.id, id));
  return isMade ? secret : null;
}

/** Disables callbacks for this relay. */
export async function clearCallback({ db }: Pick<Deps, "db">, { id }: Pick<RelayName, "id">): Promise<void> {
  await db.update(relays).set({ callbackSecret: null, callbackTopic: null }).where(eq(relays.id, id));
}

const TOPIC_FORMS: Record<TopicProvider, string> = {
  ses: "Enter the ARN of the SNS topic that SES publishes to, such as arn:aws:sns:us-east-1:123456789012:mail.",
  scaleway:
    "Enter the ARN of the topic that Scaleway publishes to, such as arn:scw:sns:fr-par:project-0a1b2c3d-4e5f-6a7b-8c9d-0e1f2a3b4c5d:mail.",
};

function readTopic(provider: TopicProvider, { secret, topic }: { secret?: string; topic?: string }): string {
  if (secret !== undefined)
    throw new AppError(
      "invalid",
      `${PROVIDER_NAMES[provider]} signs with a certificate and has no secret. Set its topic.`,
    );
  if (topic !== undefined && providerOfTopic(topic) === provider) return topic;
  throw new AppError("invalid", TOPIC_FORMS[provider]);
}

function readSecret(provider: SecretProvider, given: string): string {
  const secret = given.trim();
  const fault = FAULTS[provider](secret);
  if (fault !== null) throw new AppError("invalid", fault);
  return secret;
}

const isWord = (secret: string): boolean => /^[\x21-\x7e]{16,500}$/.test(secret);

const faultOfWord = (secret: string): string | null =>
  isWord(secret) ? null : "Enter a secret of 16 to 500 characters without spaces.";

/** Checks a secret; returns the error message, or null if it is valid. */
const FAULTS: Record<SecretProvider, (secret: string) => string | null> = {
  postmark: faultOfWord,
  brevo: faultOfWord,
  mailjet: faultOfWord,
  sparkpost: faultOfWord,
  mailersend: (secret) =>
    isWord(secret) ? null : "Enter the signing secret of the webhook, as MailerSend shows it.",
  mailgun: (secret) =>
    isWord(secret) ? null : "Enter the HTTP webhook signing key of the Mailgun account, as Mailgun shows it.",
  sendgrid: (secret) =>
    parseVerificationKey(secret)
      ? null
      : "Enter the verification key of the signed event webhook, as SendGrid shows it: Base64 that begins with MFkw.",
  resend: (secret) =>
    parseSigningSecret(secret)
      ? null
      : "Enter the signing secret of the webhook, as Resend shows it: whsec_ and Base64.",
};
