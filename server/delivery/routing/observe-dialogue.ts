import { performance } from "node:perf_hooks";
import type { WorkerDeps } from "#server/deps";
import type { Outcome } from "#server/mail/outcome";
import { classifyProvider } from "#server/mail/provider-class";
import type { Recipient, Transport } from "#server/mail/transport/transport";

/**
 * Adds measurement to the deliveries of one transport: duration, and the outcome of each recipient. `transport` is the label of
 * its metrics: of a fixed set, or `relay:` and the name of a relay of the installation.
 */
export function observeDialogue(
  { metrics }: Pick<WorkerDeps, "metrics">,
  transport: string,
  deliver: Transport["deliver"],
): Transport["deliver"] {
  if (metrics === null) return deliver;
  return async (message, recipients, watch) => {
    const startedMs = performance.now();
    const outcomes = await deliver(message, recipients, watch);
    metrics.recordDialogue(transport, (performance.now() - startedMs) / 1_000);
    for (const [index, outcome] of outcomes.entries())
      recordOutcome(metrics, transport, recipients[index], outcome);
    return outcomes;
  };
}

/** Counts the outcome of an attempt for one recipient. */
export function recordOutcome(
  metrics: NonNullable<WorkerDeps["metrics"]>,
  transport: string,
  recipient: Pick<Recipient, "domain"> | undefined,
  outcome: Outcome,
): void {
  const provider = classifyProvider(recipient?.domain ?? "", outcome.host);
  metrics.recordAttempt({ transport, provider, outcome: outcome.kind, replyClass: outcome.class ?? null });
}
