import { createHash, timingSafeEqual } from "node:crypto";
import type { Reply } from "../outcome";

/** An HTTP callback of a provider. Its signature covers exactly `bytes`. `header` is case-insensitive. */
export type Callback = { bytes: Uint8Array; header: (name: string) => string | null };

/**
 * genuine: the provider sent it. forged: the authentication failed. expired: authentic, but older than the
 * provider's retry period.
 */
export type Verdict = "genuine" | "forged" | "expired";

/**
 * What a provider says about the address of a bounce, besides the reply. hard: the address does not work.
 * blocked: the same, and the provider sends no more email to it. The others: nothing was sent, because the
 * address is on the provider's suppression list, after a bounce, a complaint, an unsubscribe or for a cause
 * that it does not name.
 */
const ADDRESS_VERDICTS = [
  "hard",
  "blocked",
  "listed",
  "listed_bounce",
  "listed_complaint",
  "listed_unsubscribe",
] as const;
export type AddressVerdict = (typeof ADDRESS_VERDICTS)[number];
export const isAddressVerdict = (text: string): text is AddressVerdict =>
  ADDRESS_VERDICTS.some((verdict) => verdict === text);

/** One delivery event that a provider reports, in a common format. All texts are untrusted input. */
export type ProviderEvent = {
  /** Stable: a repeated event has the same id. */
  id: string;
  /**
   * failed: the provider accepted the email and did not send it, for a reason of the sending account. It is
   * no bounce.
   */
  kind: "delivered" | "delayed" | "bounced" | "failed" | "complained" | "unsubscribed";
  verdict?: AddressVerdict | undefined;
  /** For an unsubscribe: the names of its lists, streams, groups or topics at the provider. */
  lists?: string[];
  /** Possible recipients; empty if the provider names none. */
  recipients: string[];
  /** The provider's own id of the email; null if absent. */
  providerId: string | null;
  /** Our Message-ID without angle brackets; null if absent. */
  messageId: string | null;
  /** The reply of the destination; parts that the provider omits are null or empty. */
  reply: Reply;
  host: string | null;
  /** Whether the event applies to every listed recipient, not only to one of them. */
  appliesToAllRecipients: boolean;
  /** Time of the event; null if absent. */
  at: Date | null;
};

/** How to authenticate and parse the callbacks of one provider. */
export type Scheme = {
  /** Set if `verify` does not need the body. */
  authenticatesByHeader?: true;
  verify(callback: Callback, secret: string, now: Date): Verdict;
  /** Parses the JSON of a genuine callback. Empty if it contains no event that we record. */
  read(payload: unknown, callback: Callback): ProviderEvent[];
};

/** Allowed clock skew: how far a provider's clock may be ahead of ours. */
const aheadSecondsMax = 300;

/**
 * Checks the age of a callback with a valid signature. `signedSeconds` is the signed time in seconds since
 * 1970.
 */
export function judgeAge(signedSeconds: number, now: Date, ageSecondsMax: number): Verdict {
  const age = now.getTime() / 1_000 - signedSeconds;
  return age <= ageSecondsMax && age >= -aheadSecondsMax ? "genuine" : "expired";
}

const hash = (text: string) => createHash("sha256").update(text).digest();

/** Compares two texts. The duration does not depend on where they differ, nor on the length of `expected`. */
export const isEqual = (actual: string, expected: string): boolean =>
  timingSafeEqual(hash(actual), hash(expected));
