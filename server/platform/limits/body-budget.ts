import { AppError } from "../errors";

/** Timeouts for the bytes of a request and for free memory. */
export const BODY_TIMEOUTS = {
  /** A body without new bytes for this time is rejected. */
  idleMs: 15_000,
  /** The minimum average rate applies only after this time. */
  graceMs: 15_000,
  bytesPerSecondMin: 16 * 1024,
  /** A request that waits longer than this for memory is rejected. */
  memoryWaitMsMax: 15_000,
};
export type BodyTimeouts = typeof BODY_TIMEOUTS;

/** Requests up to this size are not counted. Even hundreds of them use little memory. */
export const smallBodyBytes = 256 * 1024;

/** Capacity in bodies of the maximum size. Processing can use up to ten times the size of a body. */
const largestAtOnce = 2;
/** A request makes progress each time it receives this many bytes. */
const stepBytes = 64 * 1024;
/** Interval of the reviews while a request waits for memory. */
const reviewMs = 250;
/**
 * A request without progress for this many reviews is stalled. Unlike time, reviews do not pass while the
 * process is too busy to read.
 */
const stillReviews = 4;

export type BodyBudget = ReturnType<typeof createBodyBudget>;

/** The share of the budget that one request uses. */
export type BodyReservation = ReturnType<BodyBudget["open"]>;

type BodyPart = "body" | "files";

/** The memory of one request. `holder` is the team or, without a key, the client address. */
const createClaim = (holder: string) => ({
  holder,
  bytes: 0,
  /** Its announced size, which is reserved in its holder's share while it makes progress. */
  expected: 0,
  progressBytes: 0,
  stillFor: 0,
  /** True while its body arrives; it can then be rejected. False while it is handled. */
  isArriving: true,
  stop: undefined as AbortController | undefined,
});
type Claim = ReturnType<typeof createClaim>;

/** Created on first use: most requests are small and do not need it, and creating it takes microseconds. */
function stopOf(claim: Claim): AbortController {
  claim.stop ??= new AbortController();
  return claim.stop;
}

/** `settle` admits the bytes or, with a fault, rejects them. */
type Waiter = { claim: Claim; bytes: number; since: number; settle(fault?: AppError): void };

const countedOf = (bytes: number): number => (bytes <= smallBodyBytes ? 0 : bytes);
const isStalled = ({ isArriving, stillFor }: Claim) => isArriving && stillFor >= stillReviews;
const bytesOf = ({ bytes }: Claim) => bytes;
const reservedBy = (claim: Claim) =>
  claim.isArriving && !isStalled(claim) ? Math.max(claim.bytes, claim.expected) : claim.bytes;
const sum = (claims: Claim[], sizeOf: (claim: Claim) => number): number =>
  claims.reduce((total, claim) => total + sizeOf(claim), 0);

/**
 * Memory budget for the large bodies of all requests of a process, and for the files fetched for them: two
 * bodies of the maximum size, half of it for one holder. Only received bytes count, not the declared size.
 * When there is no room, requests wait, and the stalled one with the fewest bytes is rejected.
 */
export function createBodyBudget(
  sizes: { bodyMaxBytes: number; filesMaxBytes: number },
  timeouts: BodyTimeouts = BODY_TIMEOUTS,
) {
  const capacity = sizes.bodyMaxBytes * largestAtOnce;
  const share = sizes.bodyMaxBytes;
  const fileWeight = Math.min(1, sizes.bodyMaxBytes / sizes.filesMaxBytes);
  const weigh = (bytes: number, as: BodyPart) => (as === "files" ? bytes * fileWeight : bytes);
  /** The requests that use counted memory. */
  const claims = new Set<Claim>();
  const waiters = new Set<Waiter>();
  let isScheduled = false;

  const claimsOf = (holder: string) => [...claims].filter((claim) => claim.holder === holder);

  /** The requests that leave no room for further bytes of this one; empty if there is room. */
  const findInTheWay = (claim: Claim, bytes: number): Claim[] => {
    const after = countedOf(claim.bytes + bytes);
    if (after === 0) return [];
    const others = [...claims].filter((each) => each !== claim);
    if (sum(others, bytesOf) + after > capacity) return others;
    const ofHolder = others.filter(({ holder }) => holder === claim.holder);
    const own = claims.has(claim) ? after : Math.max(after, claim.expected);
    // The only large request of a holder may exceed the share.
    return sum(ofHolder, reservedBy) + own > share ? ofHolder : [];
  };

  const take = (claim: Claim, bytes: number): void => {
    claim.bytes += bytes;
    if (claim.bytes - claim.progressBytes >= stepBytes) {
      claim.progressBytes = claim.bytes;
      claim.stillFor = 0;
    }
    if (countedOf(claim.bytes) > 0) claims.add(claim);
  };

  const drop = (claim: Claim): void => {
    claims.delete(claim);
    claim.bytes = 0;
  };

  /** Rejects the stalled request with the fewest bytes among these. True if there was one. */
  const rejectStalled = (competing: Claim[]): boolean => {
    // A request that is being handled frees its memory soon. Until then, those that wait are not stalled.
    const isMemoryComing = competing.some(({ isArriving }) => !isArriving);
    const waiting = new Set([...waiters].map(({ claim }) => claim));
    const [least] = competing
      .filter((each) => isStalled(each) && !(isMemoryComing && waiting.has(each)))
      .sort((a, b) => a.bytes - b.bytes);
    if (!least) return false;
    drop(least);
    stopOf(least).abort(tooSlow());
    for (const waiter of waiters) if (waiter.claim === least) waiter.settle(tooSlow());
    return true;
  };

  /** Admits the waiting requests for which there is room, those of the holder with the least memory first. */
  const review = (): void => {
    if (waiters.size === 0) return;
    const now = performance.now();
    const order = [...waiters]
      .map((waiter) => ({ waiter, used: sum(claimsOf(waiter.claim.holder), bytesOf) }))
      .sort((a, b) => a.used - b.used);
    for (const { waiter } of order) {
      const { claim, bytes, since, settle } = waiter;
      if (now - since >= timeouts.memoryWaitMsMax) settle(busy());
      if (!waiters.has(waiter)) continue;
      let inTheWay = findInTheWay(claim, bytes);
      while (inTheWay.length > 0 && rejectStalled(inTheWay)) inTheWay = findInTheWay(claim, bytes);
      if (inTheWay.length === 0) settle();
    }
    if (waiters.size === 0 || isScheduled) return;
    isScheduled = true;
    setTimeout(() => {
      isScheduled = false;
      for (const claim of claims) claim.stillFor++;
      review();
    }, reviewMs);
  };

  const wait = (claim: Claim, bytes: number): Promise<void> =>
    new Promise((resolve, reject) => {
      const settle = (fault?: AppError) => {
        waiters.delete(waiter);
        if (fault) return reject(fault);
        take(claim, bytes);
        resolve();
      };
      const waiter: Waiter = { claim, bytes, since: performance.now(), settle };
      waiters.add(waiter);
      review();
    });

  /** Opens the claim of one request. `holder` is the team or, without a key, the client address. */
  const open = (holder: string) => {
    const claim = createClaim(holder);
    const grow = async (arrived: number, as: BodyPart = "body"): Promise<void> => {
      claim.stop?.signal.throwIfAborted();
      if (!claim.isArriving) Object.assign(claim, { isArriving: true, stillFor: 0 });
      const bytes = weigh(arrived, as);
      if (findInTheWay(claim, bytes).length === 0) take(claim, bytes);
      else await wait(claim, bytes);
    };
    return {
      timeouts,
      /** Announces the expected number of further bytes. */
      expect(coming: number, as: BodyPart = "body"): void {
        claim.expected = claim.bytes + weigh(coming, as);
      },
      /**
       * Counts received bytes, and waits if the budget is full. Throws 503 if the wait is too long, or if
       * this request is stalled and others need its memory. The files of one email count as at most one body.
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
        review();
      },
      /** Aborted when the request is rejected. The reason is the error for the caller. */
      get signal(): AbortSignal {
        return stopOf(claim).signal;
      },
      /** Releases all bytes. Safe to call more than once. */
      release(): void {
        drop(claim);
        review();
      },
    };
  };
  return { open };
}

const retryHint = "Retry in a few seconds, with the same `Idempotency-Key` if you used one.";
const busy = () => new AppError("unavailable", `Too many large requests are in progress. ${retryHint}`);
const tooSlow = () =>
  new AppError(
    "unavailable",
    `The memory for large requests is full, and this request arrived more slowly than others. ${retryHint}`,
  );
