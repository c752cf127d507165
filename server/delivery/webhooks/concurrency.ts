import { concurrencyStart } from "./queue";

const concurrencyMax = 32;
/** A success within this time raises the concurrency limit. */
const fastMs = 1_000;
const endpointsMax = 500;

/**
 * Adaptive concurrency limit per endpoint, in this process's memory. Each fast success raises it; a failure resets it. Busy
 * endpoints drain quickly, and slow ones never use all of a worker's attempts. A restart starts again from the initial limit.
 */
export function createEndpointConcurrency() {
  /** Endpoints with a limit above the initial one. */
  const raised = new Map<string, number>();
  return {
    raised,
    record(webhookId: string, hasSucceeded: boolean, durationMs: number): void {
      if (!hasSucceeded) {
        raised.delete(webhookId);
        return;
      }
      const limit = raised.get(webhookId) ?? concurrencyStart;
      if (durationMs > fastMs || limit >= concurrencyMax) return;
      // Insertion order is the order of the last raise; eviction starts with the oldest.
      raised.delete(webhookId);
      raised.set(webhookId, limit + 1);
      const [oldest] = raised.keys();
      if (raised.size > endpointsMax && oldest !== undefined) raised.delete(oldest);
    },
  };
}
