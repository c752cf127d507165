import type { Deps } from "#server/deps";
import type { Outside } from "#server/egress/outside";
import type { Verdict } from "#server/mail/callbacks/callback";
import {
  certificateUrlOf,
  confirmationUrlOf,
  isCertificate,
  judgeSnsMessage,
  type SnsMessage,
} from "#server/mail/callbacks/sns";

const fetchMs = 10_000;
const certificateBytesMax = 64 * 1024;
const answerBytesMax = 16 * 1024;
const certificatesMax = 16;

/** Certificates by their addresses, for as long as the way that they came by. SNS gives a new one a new address. */
const known = new WeakMap<Outside, Map<string, string>>();

/**
 * Judges a message of SNS for a topic: by the certificate of the service itself, which is fetched from its own host once and
 * by no address of the message's choosing. Null where that host could not be asked, so that nobody can tell yet.
 */
export async function judgeSns(
  { outside, clock }: Pick<Deps, "outside" | "clock">,
  message: SnsMessage,
  topic: string,
): Promise<Verdict | null> {
  const url = message.TopicArn === topic ? certificateUrlOf(message, topic) : null;
  if (url === null) return "forged";
  const certificate = await findCertificate(outside, url);
  return certificate === null ? null : judgeSnsMessage(message, certificate, clock());
}

/** Says to SNS that a topic's messages are wanted here. Tells whether it heard that. The message must be a genuine one. */
export async function confirmSubscription(
  { outside }: Pick<Deps, "outside">,
  topic: string,
  token: string,
): Promise<boolean> {
  const url = confirmationUrlOf(topic, token);
  const answer = await outside.fetch(url, { method: "GET", timeoutMs: fetchMs, answerBytesMax });
  return answer.kind === "answer" && answer.status === 200;
}

async function findCertificate(outside: Outside, url: string): Promise<string | null> {
  const kept = known.get(outside) ?? new Map<string, string>();
  known.set(outside, kept);
  const found = kept.get(url);
  if (found !== undefined) return found;
  const answer = await outside.fetch(url, {
    method: "GET",
    timeoutMs: fetchMs,
    answerBytesMax: certificateBytesMax,
  });
  if (answer.kind === "fault" || answer.status >= 500) return null;
  const pem = answer.body.toString("latin1");
  if (answer.status !== 200 || !isCertificate(pem)) return "";
  for (const oldest of [...kept.keys()].slice(0, Math.max(0, kept.size + 1 - certificatesMax)))
    kept.delete(oldest);
  kept.set(url, pem);
  return pem;
}
