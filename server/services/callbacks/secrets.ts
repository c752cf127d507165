import { randomBytes } from "node:crypto";
import { eq } from "drizzle-orm";
import type { HeardRelay } from "#db/callbacks";
import { type RelayProvider, relays } from "#db/schema/relays";
import type { Deps } from "#server/deps";
import { AppError } from "#server/errors";
import { readSigningSecret } from "#server/mail/callbacks/resend";
import { readVerificationKey } from "#server/mail/callbacks/sendgrid";
import { isTopic } from "#server/mail/callbacks/sns";
import { placeOfRelay } from "../relays/seal";
import { PROVIDER_NAMES } from "./schemes";

type Named = { id: string; name: string; provider: RelayProvider | null };

/** Where a relay's provider calls, below the public address. */
export const callbackPathOf = (relayId: string): string => `/api/inbound/relays/${relayId}`;

/** A secret is of use to the provider that it was given for alone, also where the relay becomes another's. */
const keptAs = (provider: RelayProvider, secret: string): string => `${provider}:${secret}`;

/** The secret by which a relay's provider proves its calls; null where none was given for that provider. */
export function openCallbackSecret(
  { vault }: Pick<Deps, "vault">,
  { id, provider, secret }: HeardRelay,
): string | null {
  if (provider === null || secret === null) return null;
  const kept = vault.open(secret, placeOfRelay("callback_secret", id));
  const prefix = keptAs(provider, "");
  return kept.startsWith(prefix) ? kept.slice(prefix.length) : null;
}

/**
 * Says by what a relay's provider proves its calls, which are heard from then on: the topic of SES, the secret of the others.
 * Postmark has none of its own, so one is made where none is given. Gives back the secret where it was made here.
 */
export async function setCallback(
  { db, vault }: Pick<Deps, "db" | "vault">,
  relay: Named,
  given: { secret?: string; topic?: string },
): Promise<string | null> {
  const { id, provider } = relay;
  if (provider === null)
    throw new AppError(
      "invalid",
      `Whose server ${relay.name} is, is not known. Say it first: relay set ${relay.name} --provider NAME`,
    );
  if (provider === "ses") {
    const topic = readTopic(given);
    await db.update(relays).set({ callbackTopic: topic, callbackSecret: null }).where(eq(relays.id, id));
    return null;
  }
  if (given.topic !== undefined)
    throw new AppError("invalid", `${PROVIDER_NAMES[provider]} has no topics. Give its secret.`);
  const isMade = given.secret === undefined && provider === "postmark";
  const secret = isMade ? randomBytes(24).toString("base64url") : readSecret(provider, given.secret ?? "");
  const sealed = vault.seal(keptAs(provider, secret), placeOfRelay("callback_secret", id));
  await db.update(relays).set({ callbackSecret: sealed, callbackTopic: null }).where(eq(relays.id, id));
  return isMade ? secret : null;
}

/** From then on nobody is heard for this relay. */
export async function clearCallback({ db }: Pick<Deps, "db">, { id }: Pick<Named, "id">): Promise<void> {
  await db.update(relays).set({ callbackSecret: null, callbackTopic: null }).where(eq(relays.id, id));
}

function readTopic({ secret, topic }: { secret?: string; topic?: string }): string {
  if (secret !== undefined)
    throw new AppError("invalid", "Amazon SES signs by a certificate and has no secret. Give its topic.");
  if (topic !== undefined && isTopic(topic)) return topic;
  throw new AppError(
    "invalid",
    "Give the ARN of the SNS topic that SES writes to, such as arn:aws:sns:us-east-1:123456789012:mail.",
  );
}

function readSecret(provider: Exclude<RelayProvider, "ses">, given: string): string {
  const secret = given.trim();
  const fault = FAULTS[provider](secret);
  if (fault !== null) throw new AppError("invalid", fault);
  return secret;
}

const isWord = (secret: string): boolean => /^[\x21-\x7e]{16,500}$/.test(secret);

/** What is wrong with a secret, in a sentence; null where nothing is. */
const FAULTS: Record<Exclude<RelayProvider, "ses">, (secret: string) => string | null> = {
  postmark: (secret) => (isWord(secret) ? null : "Give a secret of 16 to 500 characters without blanks."),
  mailgun: (secret) =>
    isWord(secret) ? null : "Give the HTTP webhook signing key of the Mailgun account, as it shows it.",
  sendgrid: (secret) =>
    readVerificationKey(secret)
      ? null
      : "Give the verification key of the signed event webhook, as SendGrid shows it: Base64 that begins with MFkw.",
  resend: (secret) =>
    readSigningSecret(secret)
      ? null
      : "Give the signing secret of the webhook, as Resend shows it: whsec_ and Base64.",
};
