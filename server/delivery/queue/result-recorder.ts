import { setTimeout as wait } from "node:timers/promises";
import type { HotSql } from "#db/client";
import { isDatabaseUnreachable, isLockTimeout, isRetryable, isStatementTimeout } from "#db/faults";
import { errorFacts, type Log } from "#server/platform/log";
import { coalesce } from "./coalesce";
import { type DeliveryResult, recordResults } from "./record-results";

const recordRetryMs = 500;
/** Results can wait for a batch. The wait is short because a crash before the write makes their outcomes unknown. */
const recordBatching = { itemsMin: 60, maxMs: 15 };

/**
 * Resolves when the results are written, dropped because their lease was lost, or logged as not recordable. `isAlone`:
 * all emails among them have a single recipient.
 */
export type RecordResults = (results: DeliveryResult[], isAlone: boolean) => Promise<unknown>;

/** Writes results, many in one statement. Retries stop once `signal` is aborted. */
export function createResultRecorder(
  { hot, log }: { hot: HotSql; log: Log },
  { signal, onRecorded }: { signal: AbortSignal; onRecorded: () => void },
): RecordResults {
  /**
   * A result exists only in this process, so transient database errors are retried. If a batch fails permanently, its
   * results are written one by one. A result that fails alone stays leased; its delivery becomes unknown after expiry.
   */
  async function recordUntilWritten(results: DeliveryResult[], areAlone: boolean): Promise<void> {
    for (;;) {
      try {
        const written = await recordResults(hot, results, { areAlone });
        for (const { id, leaseToken } of results) {
          // Our lease expired and another worker owns this delivery. Its result counts; ours is dropped.
          if (!written.has(id)) log.warn("delivery.lease_lost", { deliveryId: id, leaseToken });
        }
        return;
      } catch (error) {
        const isTransient =
          isDatabaseUnreachable(error) ||
          isRetryable(error) ||
          isLockTimeout(error) ||
          isStatementTimeout(error);
        if (!isTransient && results.length > 1) {
          for (const result of results) await recordUntilWritten([result], areAlone);
          return;
        }
        if (!isTransient || signal.aborted) {
          for (const { id } of results)
            log.error("delivery.not_recorded", { deliveryId: id, ...errorFacts(error) });
          return;
        }
        log.warn("delivery.record_again", { count: results.length, ...errorFacts(error) });
        await wait(recordRetryMs);
      }
    }
  }
  const batchOf = (areAlone: boolean) =>
    coalesce<DeliveryResult, void>(
      500,
      async (results) => {
        await recordUntilWritten(results, areAlone);
        onRecorded();
        return () => undefined;
      },
      recordBatching,
    );
  const alone = batchOf(true);
  const together = batchOf(false);
  return (results, isAlone) => (isAlone ? alone : together)(results);
}
