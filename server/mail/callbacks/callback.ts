import type { Reply } from "../outcome";

/** A provider's call as it came: its signature is over these very bytes. `header` is by name in any letter case. */
export type Callback = { bytes: Uint8Array; header: (name: string) => string | null };

/** forged: nothing proves that the provider sent it. expired: it did, but longer ago than it repeats itself. */
export type Verdict = "genuine" | "forged" | "expired";

/** One thing that a provider tells of a mail, in our words. All texts are its own and may hold anything. */
export type Told = {
  /** The same whenever the provider tells the same. */
  id: string;
  kind: "delivered" | "delayed" | "bounced" | "complained";
  /** Whom it may be about; empty where the provider names nobody. */
  recipients: string[];
  /** Under which the provider knows the mail; null where it does not say. */
  providerId: string | null;
  /** The header of that name without brackets, where the provider tells ours. */
  messageId: string | null;
  /** What the server at the other end said, as far as that is told. */
  reply: Reply;
  host: string | null;
  /** Whether it surely is about each that it names, and not about one of them. */
  isSure: boolean;
  /** When it happened; null where the provider does not say. */
  at: Date | null;
};

/** How one provider proves its calls and what they say. */
export type Scheme = {
  verify(callback: Callback, secret: string, now: Date): Verdict;
  /** What the JSON of a genuine call tells; nothing where it tells of what we do not keep. */
  read(payload: unknown, callback: Callback): Told[];
};
