import { setTimeout as wait } from "node:timers/promises";
import type { HotSql } from "#db/client";
import {
  isDatabaseUnreachable,
  isDuplicateRow,
  isLockTimeout,
  isStatementTimeout,
  isWriteFault,
} from "#db/faults";
import { withinMs } from "#db/gate";
import { createBatches } from "#server/platform/batches";
import type { Tracer } from "#server/platform/telemetry/otel";
import type { Metrics } from "#server/platform/telemetry/prometheus";
import { insertSubmissions, type Submission, type Written } from "./insert-submissions";

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

type Settled = Written | { error: unknown };

/**
 * Writes the submissions that wait at the same time with one statement; each caller gets its result after
 * that statement has committed. If no statement is running, a submission starts one immediately; otherwise it
 * waits 5 ms at most for others to join. If a statement with several submissions fails, each is repeated
 * alone, so one invalid row does not affect the others; ids are primary keys, so a repetition cannot write an
 * email twice. A submission whose statement has not started after 2 s is rejected with DatabaseBusy. A
 * submission whose idempotency key is held by another request is retried until that request finishes; after
 * 10 s it is rejected with IdempotencyKeyBusy.
 */
export function createAcceptor(
  hot: HotSql,
  { metrics, tracer }: { metrics: Metrics | null; tracer: Tracer | null } = { metrics: null, tracer: null },
): Accept {
  const commit = createBatches<Submission, Settled | undefined>(
    async (submissions) => {
      const settled = await write(submissions);
      const results = new Map(submissions.map((submission, at) => [submission, settled[at]]));
      return (submission) => results.get(submission);
    },
    {
      countNext,
      callsMax: Math.max(1, Math.min(statementsMax, hot.options.max - 1)),
      itemsMin: gatherCountMin,
      gatherMsMax,
      waitMsMax,
    },
  );

  const write = async (submissions: Submission[]): Promise<Settled[]> => {
    try {
      return await insertSubmissions(hot, submissions);
    } catch (error) {
      return writeAfterFailure(submissions, error);
    }
  };

  /** Writes what can still be written after the statement of a whole batch has failed. */
  const writeAfterFailure = async (submissions: Submission[], error: unknown): Promise<Settled[]> => {
    const failed = submissions.map(() => ({ error }));
    if (isDatabaseUnreachable(error) || isStatementTimeout(error)) return failed;
    // Its id exists: an earlier attempt was committed, but the response of the database was lost.
    if (submissions.length === 1) return isDuplicateRow(error, "emails") ? ["written"] : failed;
    if (!isLockTimeout(error)) return (await Promise.all(submissions.map((each) => write([each])))).flat();
    // Only an idempotency record can cause a lock timeout: a writer that does not use the advisory lock holds
    // it. Submissions without a key are not affected.
    const others = submissions.filter(({ idempotency }) => !idempotency);
    if (others.length === 0 || others.length === submissions.length) return failed;
    const settled = (await write(others)).values();
    return submissions.map(({ idempotency }) => (!idempotency && settled.next().value) || { error });
  };

  /** Repeats a submission while another request holds its key. */
  const commitWhenFree = async (submission: Submission): Promise<boolean> => {
    const untilMs = performance.now() + keyConflictMsMax;
    for (let delayMs: number = keyRetryMs.first; ; delayMs = Math.min(delayMs * 2, keyRetryMs.max)) {
      const [settled] = await commit([submission]);
      if (typeof settled === "object") throw settled.error;
      if (settled !== "held") return settled === "written";
      if (performance.now() + delayMs > untilMs) throw new IdempotencyKeyBusy();
      await wait(delayMs);
    }
  };

  let isWriteRejected = false;
  const accept = async (submission: Submission): Promise<boolean> => {
    const receivedMs = performance.now();
    let result: AcceptResult = "failed";
    const span = tracer?.start("accept", { parent: submission.emails[0]?.traceparent });
    try {
      const isWritten = await withinMs(resultMsMax, commitWhenFree(submission));
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

/** The longest run of submissions that fits in one statement and repeats no idempotency key. */
function countNext(entries: readonly { items: readonly Submission[] }[]): number {
  const keys = new Set<string>();
  let characters = 0;
  let count = 0;
  const head = entries.slice(0, submissionsPerStatementMax).flatMap(({ items }) => items);
  for (const { idempotency, emails } of head) {
    const key = idempotency && `${idempotency.teamId} ${idempotency.route} ${idempotency.key}`;
    characters += emails.reduce(
      (sum, { html, text, raw }) => sum + (html?.length ?? 0) + (text?.length ?? 0) + (raw?.length ?? 0),
      0,
    );
    if (count > 0 && characters > charactersPerStatementMax) break;
    if (key !== undefined && keys.has(key)) break;
    if (key !== undefined) keys.add(key);
    count++;
  }
  return count;
}
