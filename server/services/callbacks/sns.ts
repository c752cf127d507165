import type { Deps } from "#server/deps";
import type { Verdict } from "#server/mail/callbacks/callback";
import {
  authoritiesUrlOf,
  certificateUrlOf,
  confirmationUrlOf,
  isCertificate,
  judgeSnsMessage,
  type SnsMessage,
} from "#server/mail/callbacks/sns";
import type { Outside } from "#server/platform/egress/outside";

const fetchMs = 10_000;
const certificateBytesMax = 64 * 1024;
const responseBytesMax = 16 * 1024;
const certificatesMax = 16;

/** Certificates by URL, per HTTP client. SNS publishes a new certificate under a new URL. */
const known = new WeakMap<Outside, Map<string, string>>();

/**
 * Verifies an SNS message for a topic with the certificate of SNS, which is fetched once from the host of its
 * provider and never from a host that the message chooses. Null if the certificate could not be fetched, so
 * the result is not known yet.
 */
export async function verifySns(
  { outside, clock }: Pick<Deps, "outside" | "clock">,
  message: SnsMessage,
  topic: string,
): Promise<Verdict | null> {
  const url = message.TopicArn === topic ? certificateUrlOf(message, topic) : null;
  if (url === null) return "forged";
  const authoritiesUrl = authoritiesUrlOf(topic);
  const authorities = authoritiesUrl === null ? null : await findCertificate(outside, authoritiesUrl);
  const certificate = await findCertificate(outside, url);
  if (certificate === null || (authoritiesUrl !== null && authorities === null)) return null;
  return judgeSnsMessage(message, certificate, clock(), authorities);
}

/**
 * Confirms the subscription of a topic. Returns whether SNS accepted the confirmation. The message must be
 * verified before.
 */
export async function confirmSubscription(
  { outside }: Pick<Deps, "outside">,
  topic: string,
  token: string,
): Promise<boolean> {
  const url = confirmationUrlOf(topic, token);
  const response = await outside.fetch(url, { method: "GET", timeoutMs: fetchMs, responseBytesMax });
  return response.kind === "answer" && response.status === 200;
}

async function findCertificate(outside: Outside, url: string): Promise<string | null> {
  const kept = known.get(outside) ?? new Map<string, string>();
  known.set(outside, kept);
  const found = kept.get(url);
  if (found !== undefined) return found;
  const response = await outside.fetch(url, {
    method: "GET",
    timeoutMs: fetchMs,
    responseBytesMax: certificateBytesMax,
  });
  if (response.kind === "fault" || response.status >= 500) return null;
  const pem = response.body.toString("latin1");
  if (response.status !== 200 || !isCertificate(pem)) return "";
  for (const oldest of [...kept.keys()].slice(0, Math.max(0, kept.size + 1 - certificatesMax)))
    kept.delete(oldest);
  kept.set(url, pem);
  return pem;
}
