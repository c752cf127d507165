/** Requests up to this size are not counted. Even hundreds of them use little memory. */
export const smallBodyBytes = 256 * 1024;

/** A request makes progress each time it receives this many bytes. */
const stepBytes = 64 * 1024;

/** The memory of one request. Times are milliseconds of the process's monotonic clock. */
export type Entry = {
  /** The team or, without a key, the client address. */
  holder: string;
  bytes: number;
  /** Its expected final size. Reserved in its holder's share until `turnEndsAt`. */
  expected: number;
  /** Whether its next bytes reserve the expected size. */
  wantsTurn: boolean;
  turnEndsAt: number;
  progressBytes: number;
  progressAt: number;
  /**
   * Number of reviews since its last progress. Unlike time, it does not grow while the process is too busy to
   * read.
   */
  stillFor: number;
  /** True while its body arrives; it can then be rejected. False while it is handled. */
  isArriving: boolean;
};

/** The limit that is reached. */
export type ReachedLimit = "budget" | "share";

/** The memory use by request and holder. */
export type Ledger = ReturnType<typeof createLedger>;

/** Counts received bytes, up to `capacity` for all requests and `share` for one holder. */
export function createLedger(limits: { capacity: number; share: number; turnMs: number }) {
  const { capacity, share, turnMs } = limits;
  const entries = new Set<Entry>();
  let used = 0;

  return {
    /** The limit that these further bytes would exceed, or null. */
    reachedLimit(entry: Entry, bytes: number, now: number): ReachedLimit | null {
      const after = counted(entry.bytes + bytes);
      if (after === 0) return null;
      if (used - counted(entry.bytes) + after > capacity) return "budget";
      const own = entry.wantsTurn
        ? Math.max(after, entry.expected)
        : reserved({ ...entry, bytes: after }, now);
      let others = 0;
      for (const each of entries)
        if (each !== entry && each.holder === entry.holder) others += reserved(each, now);
      // The only request of a holder may exceed the share.
      return others > 0 && others + own > share ? "share" : null;
    },

    take(entry: Entry, bytes: number, now: number): void {
      used -= counted(entry.bytes);
      entry.bytes += bytes;
      used += counted(entry.bytes);
      if (!entry.isArriving || entry.bytes - entry.progressBytes >= stepBytes) {
        entry.progressBytes = entry.bytes;
        entry.progressAt = now;
        entry.stillFor = 0;
      }
      entry.isArriving = true;
      if (counted(entry.bytes) === 0) return;
      entries.add(entry);
      if (entry.wantsTurn) entry.turnEndsAt = now + turnMs;
      entry.wantsTurn = false;
    },

    drop(entry: Entry): void {
      if (entries.delete(entry)) used -= counted(entry.bytes);
      entry.bytes = 0;
    },

    heldBy(holder: string): number {
      let sum = 0;
      for (const entry of entries) if (entry.holder === holder) sum += entry.bytes;
      return sum;
    },

    /** Call it at regular intervals while a request waits for memory. */
    review(): void {
      for (const entry of entries) entry.stillFor++;
    },

    /** The other requests that use the memory under this limit. */
    rivals: (entry: Entry, limit: ReachedLimit): Entry[] =>
      [...entries].filter((each) => each !== entry && (limit === "budget" || each.holder === entry.holder)),
  };
}

const counted = (bytes: number): number => (bytes <= smallBodyBytes ? 0 : bytes);

const reserved = ({ bytes, expected, turnEndsAt }: Entry, now: number): number =>
  now < turnEndsAt ? Math.max(bytes, expected) : bytes;
