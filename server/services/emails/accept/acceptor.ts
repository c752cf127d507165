import type { HotSql } from "#db/client";
import {
  isDatabaseUnreachable,
  isDuplicateRow,
  isLockTimeout,
  isStatementTimeout,
  isWriteFault,
} from "#db/faults";
import { DatabaseBusy, withinMs } from "#db/gate";
import type { Metrics } from "#server/platform/telemetry/metrics";
import type { Tracer } from "#server/platform/telemetry/tracer";
import { insertSubmissions, type Submission } from "./insert-submissions";

/**
 * Concurrent statements. More of them would only wait for the same disk. One connection stays free for key
 * lookups.
 */
const statementsMax = 3;
const submissionsPerStatementMax = 100;
/**
 * Limit for the bodies of one statement, in characters or bytes. Only a single larger submission exceeds it.
 */
const charactersPerStatementMax = 4_000_000;
/**
 * While a statement is running, the next one starts when this many submissions are queued or the oldest of
 * them has waited `gatherMsMax`: a statement costs as much as several rows, and the running one is almost
 * finished by then.
 */
const gatherCountMin = 8;
const gatherMsMax = 5;
/**
 * How long a submission may wait until its statement starts. A submission rejected at this point was not
 * written.
 */
const waitMsMax = 2_000;
/**
 * How long a caller waits in total: longer than any lock or key conflict lasts, so it is reached only if the
 * connection is lost.
 */
const resultMsMax = 20_000;
/**
 * How long a submission waits for a concurrent request with the same idempotency key, and the delays between
 * its attempts.
 */
const keyConflictMsMax = 10_000;
const keyRetryMs = { first: 5, max: 100 } as const;

/**
 * Another request used the same idempotency key during the whole wait. Nothing of this submission was
 * written.
 */
export class IdempotencyKeyBusy extends Error {
  override name = "IdempotencyKeyBusy";
}

/** Commits one submission. True: written. False: its idempotency key was used before. */
export type Accept = ((submission: Submission) => Promise<boolean>) & {
  /** Whether the database, because it is full or read-only, could not write the last submission. */
  isWriteRejected(): boolean;
};

type Waiting = {
  submission: Submission;
  resolve(written: boolean): void;
  reject(error: unknown): void;
  /**
   * When the submission was received, and when it last joined the queue, on the process's monotonic clock.
   */
  receivedMs: number;
  queuedMs: number;
  /** Delay until the next attempt while another request holds its key. */
  retryDelayMs: number;
};

/**
 * The coalescing writer. Submissions that are queued at the same time share one statement, and each caller
 * gets its result after that statement has committed. If no statement is running, a submission starts one
 * immediately; otherwise it waits 5 ms at most for others to join. If a statement with several submissions
 * fails, each is repeated alone, so one invalid row does not affect the others; ids are primary keys, so a
 * repetition cannot write an email twice. A submission whose statement has not started after 2 s is rejected
 * with DatabaseBusy. A submission whose idempotency key is held by another request leaves the queue and is
 * retried until that request finishes; after 10 s it is rejected with IdempotencyKeyBusy.
 */
export function createAcceptor(
  hot: HotSql,
  { metrics, tracer }: { metrics: Metrics | null; tracer: Tracer | null } = { metrics: null, tracer: null },
): Accept {
  const queue: Waiting[] = [];
  const concurrencyMax = Math.max(1, Math.min(statementsMax, hot.options.max - 1));
  let running = 0;
  let expiryTimer: NodeJS.Timeout | undefined;
  let isGathering = false;

  const startNext = (isGathered = false) => {
    while (running < concurrencyMax && queue.length > 0) {
      if (running > 0 && queue.length < gatherCountMin && !isGathered) {
        if (!isGathering) setTimeout(endGathering, gatherMsMax);
        isGathering = true;
        break;
      }
      running++;
      void write(dequeueBatch(queue)).finally(() => {
        running--;
        startNext();
      });
    }
    const [head] = queue;
    if (!head) {
      clearTimeout(expiryTimer);
      expiryTimer = undefined;
    } else expiryTimer ??= setTimeout(rejectExpired, head.queuedMs + waitMsMax - performance.now());
  };

  const endGathering = () => {
    isGathering = false;
    startNext(true);
  };

  const rejectExpired = () => {
    expiryTimer = undefined;
    const expiredMs = performance.now() - waitMsMax;
    const firstLive = queue.findIndex(({ queuedMs }) => queuedMs > expiredMs);
    for (const { reject } of queue.splice(0, firstLive === -1 ? queue.length : firstLive))
      reject(new DatabaseBusy(waitMsMax));
    startNext();
  };

  const write = async (batch: Waiting[]) => {
    const submissions = batch.map(({ submission }) => submission);
    try {
      const written = await insertSubmissions(hot, submissions);
      for (const [index, waiting] of batch.entries()) {
        if (written[index] === "held") retryLater(waiting);
        else waiting.resolve(written[index] === "written");
      }
    } catch (error) {
      await writeAfterFailure(batch, error);
    }
  };

  const retryLater = (waiting: Waiting) => {
    const { retryDelayMs } = waiting;
    if (performance.now() + retryDelayMs > waiting.receivedMs + keyConflictMsMax) {
      waiting.reject(new IdempotencyKeyBusy());
      return;
    }
    waiting.retryDelayMs = Math.min(retryDelayMs * 2, keyRetryMs.max);
    setTimeout(() => {
      enqueue(waiting);
      startNext();
    }, retryDelayMs);
  };

  const enqueue = (waiting: Waiting) => {
    waiting.queuedMs = performance.now();
    queue.push(waiting);
  };

  /**
   * Writes what can still be written after the statement of a whole batch has failed, and rejects the rest.
   */
  const writeAfterFailure = async (batch: Waiting[], error: unknown): Promise<void> => {
    const rejectAll = (rejected: Waiting[]) => {
      for (const { reject } of rejected) reject(error);
    };
    const [only, ...others] = batch;
    if (!only || isDatabaseUnreachable(error) || isStatementTimeout(error)) return rejectAll(batch);
    if (others.length === 0) {
      // Its id exists: an earlier attempt was committed, but the response of the database was lost.
      if (isDuplicateRow(error, "emails")) only.resolve(true);
      else only.reject(error);
    } else if (isLockTimeout(error)) {
      // Only an idempotency record can cause a lock timeout: a writer that does not use the advisory lock
      // holds it. Submissions without a key are not affected.
      const keyed = batch.filter(({ submission }) => submission.idempotency);
      const rest = batch.filter(({ submission }) => !submission.idempotency);
      rejectAll(keyed.length > 0 ? keyed : batch);
      if (keyed.length > 0 && rest.length > 0) await write(rest);
    } else await Promise.all(batch.map((waiting) => write([waiting])));
  };

  let isWriteRejected = false;
  const accept = async (submission: Submission): Promise<boolean> => {
    const receivedMs = performance.now();
    let result: AcceptResult = "failed";
    const span = tracer?.start("accept", { parent: submission.emails[0]?.traceparent });
    try {
      const isWritten = await withinMs(
        resultMsMax,
        new Promise<boolean>((resolve, reject) => {
          enqueue({
            submission,
            resolve,
            reject,
            receivedMs,
            queuedMs: receivedMs,
            retryDelayMs: keyRetryMs.first,
          });
          // Runs after the current turn of the event loop: requests that were read from the sockets together
          // are written together.
          setImmediate(() => startNext());
        }),
      );
      result = isWritten ? "committed" : "repeated";
      isWriteRejected = false;
      return isWritten;
    } catch (error) {
      if (isWriteFault(error)) isWriteRejected = true;
      throw error;
    } finally {
      const emails = result === "committed" ? submission.emails.length : 0;
      span?.set({ "backstamp.result": result, "backstamp.emails": emails });
      if (result === "failed") span?.fail("not_committed");
      span?.end();
      metrics?.recordAccept(result, emails, (performance.now() - receivedMs) / 1_000);
    }
  };
  return Object.assign(accept, { isWriteRejected: () => isWriteRejected });
}

type AcceptResult = Parameters<Metrics["recordAccept"]>[0];

/**
 * Removes the longest run at the head of the queue that fits in one statement and repeats no idempotency key.
 */
function dequeueBatch(queue: Waiting[]): Waiting[] {
  const keys = new Set<string>();
  let characters = 0;
  let count = 0;
  for (const { submission } of queue) {
    const { idempotency, emails } = submission;
    const key = idempotency && `${idempotency.teamId} ${idempotency.route} ${idempotency.key}`;
    characters += emails.reduce(
      (sum, { html, text, raw }) => sum + (html?.length ?? 0) + (text?.length ?? 0) + (raw?.length ?? 0),
      0,
    );
    if (count > 0 && (count >= submissionsPerStatementMax || characters > charactersPerStatementMax)) break;
    if (key !== undefined && keys.has(key)) break;
    if (key !== undefined) keys.add(key);
    count++;
  }
  return queue.splice(0, count);
}
