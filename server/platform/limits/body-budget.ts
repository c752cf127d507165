import { AppError } from "../errors";
import { createLedger, type Entry, type ReachedLimit, smallBodyBytes } from "./body-ledger";

/** Timeouts for the bytes of a request and for free memory. */
export const BODY_TIMEOUTS = {
  /** A body without new bytes for this time is rejected. */
  idleMs: 15_000,
  /** The minimum average rate applies only after this time. */
  graceMs: 15_000,
  bytesPerSecondMin: 16 * 1024,
  /** A request that waits longer than this for memory is rejected. */
  roomMs: 15_000,
  /**
   * How long the announced size of a request is reserved in its holder's share. Large requests of one holder
   * take turns.
   */
  turnMs: 3_000,
};
export type BodyTimeouts = typeof BODY_TIMEOUTS;

/** Capacity in bodies of the maximum size. Processing can use up to ten times the size of a body. */
const largestAtOnce = 2;
/** Interval of the reviews while a request waits for memory. */
const reviewMs = 250;
/** Only a request without progress for this many reviews can be rejected to free memory for another. */
const stillReviews = 4;

export type BodyBudget = ReturnType<typeof createBodyBudget>;

/** The share of the budget that one request uses. */
export type BodyClaim = ReturnType<BodyBudget["open"]>;

type BodyPart = "body" | "files";
type Claim = Entry & { stop?: AbortController };
type Waiter = { claim: Claim; bytes: number; since: number; admit(): void; reject(fault: AppError): void };

/**
 * Memory budget for the large bodies of all requests of a process, and for the files fetched for them: two
 * bodies of the maximum size. Only received bytes count, not the declared size. Waiting requests of the
 * holder that uses the least memory are admitted first.
 */
export function createBodyBudget(
  sizes: { bodyMaxBytes: number; filesMaxBytes: number },
  patience: BodyTimeouts = BODY_TIMEOUTS,
) {
  const ledger = createLedger({
    capacity: sizes.bodyMaxBytes * largestAtOnce,
    share: sizes.bodyMaxBytes,
    turnMs: patience.turnMs,
  });
  const fileWeight = Math.min(1, sizes.bodyMaxBytes / sizes.filesMaxBytes);
  const weigh = (bytes: number, as: BodyPart) => (as === "files" ? bytes * fileWeight : bytes);
  const waiters = new Set<Waiter>();
  let isScheduled = false;

  /** Rejects the stalled request with the least progress. True if a request was rejected. */
  const freeMemory = ({ claim }: Waiter, limit: ReachedLimit): boolean => {
    const rivals: Claim[] = ledger.rivals(claim, limit);
    const waiting = new Set([...waiters].map((waiter) => waiter.claim));
    // A request that is being handled frees its memory soon, so requests that wait for memory do not count as
    // stalled.
    const isRoomComing = rivals.some(({ isArriving }) => !isArriving);
    const stalled = rivals.filter(
      (rival) => rival.isArriving && rival.stillFor >= stillReviews && !(isRoomComing && waiting.has(rival)),
    );
    const [least] = stalled.sort((a, b) => a.progressAt - b.progressAt);
    if (!least) return false;
    ledger.drop(least);
    least.stop ??= new AbortController();
    least.stop.abort(tooSlow());
    for (const waiter of waiters) if (waiter.claim === least) waiter.reject(tooSlow());
    return true;
  };

  const review = (): void => {
    const now = performance.now();
    for (const waiter of waiters) if (now - waiter.since >= patience.roomMs) waiter.reject(busy());
    const full = new Set<string>();
    for (const waiter of inOrder(waiters, ledger.heldBy)) {
      const { claim, bytes } = waiter;
      if (full.has(claim.holder) || !waiters.has(waiter)) continue;
      let limit = ledger.reachedLimit(claim, bytes, now);
      while (limit && freeMemory(waiter, limit)) limit = ledger.reachedLimit(claim, bytes, now);
      if (limit === "budget") break;
      if (limit === "share") full.add(claim.holder);
      else waiter.admit();
    }
    if (waiters.size === 0 || isScheduled) return;
    isScheduled = true;
    setTimeout(reviewAgain, reviewMs);
  };
  const reviewAgain = (): void => {
    isScheduled = false;
    ledger.review();
    review();
  };

  const wait = (claim: Claim, bytes: number): Promise<void> =>
    new Promise((resolve, reject) => {
      const waiter: Waiter = {
        claim,
        bytes,
        since: performance.now(),
        admit() {
          waiters.delete(waiter);
          ledger.take(claim, bytes, performance.now());
          resolve();
        },
        reject(fault) {
          waiters.delete(waiter);
          reject(fault);
        },
      };
      waiters.add(waiter);
      review();
    });

  /**
   * Opens the claim of one request. `holder` is the team or, without a key, the client address. A holder gets
   * at most half.
   */
  const open = (holder: string) => {
    const claim: Claim = {
      holder,
      bytes: 0,
      expected: 0,
      wantsTurn: false,
      turnEndsAt: 0,
      progressBytes: 0,
      progressAt: performance.now(),
      stillFor: 0,
      isArriving: true,
    };
    const grow = async (arrived: number, as: BodyPart = "body"): Promise<void> => {
      claim.stop?.signal.throwIfAborted();
      const bytes = weigh(arrived, as);
      const now = performance.now();
      const isFirst = waiters.size === 0 || claim.bytes + bytes <= smallBodyBytes;
      if (isFirst && ledger.reachedLimit(claim, bytes, now) === null) ledger.take(claim, bytes, now);
      else await wait(claim, bytes);
    };
    return {
      /** Announces the expected number of further bytes. */
      expect(coming: number, as: BodyPart = "body"): void {
        claim.expected = claim.bytes + weigh(coming, as);
        claim.wantsTurn = true;
      },
      /**
       * Counts received bytes, and waits if the budget is full. Throws 503 if the wait is too long, or if
       * this request has the least progress and others need its memory. The files of one email count as at
       * most one body.
       */
      grow,
      /**
       * Counts what is made of a body, such as filled-in templates, like received bytes. Throws 413 if the
       * request would then need more than a body of the maximum size.
       */
      async expand(made: number): Promise<void> {
        if (claim.bytes + made > sizes.bodyMaxBytes)
          throw new AppError(
            "too_large",
            `The templates of this request fill in to more than ${sizes.bodyMaxBytes} bytes, the maximum of a request. Send fewer emails in one request, or use shorter lists.`,
          );
        await grow(made);
      },
      /** Marks the body as complete. The request cannot be rejected until it grows again. */
      settle(): void {
        claim.isArriving = false;
        claim.turnEndsAt = 0;
        if (waiters.size > 0) review();
      },
      /** Aborted when the request is rejected. The reason is the error for the caller. */
      get signal(): AbortSignal {
        claim.stop ??= new AbortController();
        return claim.stop.signal;
      },
      /** Releases all bytes. Safe to call more than once. */
      release(): void {
        ledger.drop(claim);
        if (waiters.size > 0) review();
      },
    };
  };
  return { patience, open };
}

/**
 * The holder with the least memory first. For one holder, the largest request first, because it releases the
 * most.
 */
function inOrder(waiters: ReadonlySet<Waiter>, heldBy: (holder: string) => number): Waiter[] {
  const held = new Map<string, number>();
  for (const { claim } of waiters) if (!held.has(claim.holder)) held.set(claim.holder, heldBy(claim.holder));
  const heldOf = ({ claim }: Waiter) => held.get(claim.holder) ?? 0;
  return [...waiters].sort((a, b) => heldOf(a) - heldOf(b) || b.claim.bytes - a.claim.bytes);
}

const retryHint = "Retry in a few seconds, with the same `Idempotency-Key` if you used one.";
const busy = () => new AppError("unavailable", `Too many large requests are in progress. ${retryHint}`);
const tooSlow = () =>
  new AppError(
    "unavailable",
    `The memory for large requests is full, and this request arrived more slowly than others. ${retryHint}`,
  );
