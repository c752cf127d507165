import { performance } from "node:perf_hooks";
import type { WorkerDeps } from "#server/deps";
import type { Outcome } from "#server/mail/outcome";
import { classifyProvider } from "#server/mail/provider-class";
import type { Recipient, Transport } from "#server/mail/transport/transport";
import type { Attributes } from "#server/platform/telemetry/otel";

/**
 * Adds measurement to the deliveries of one transport: duration and the outcome of each recipient, and a span
 * with the server's reply. `transport` is the label of its metrics: of a fixed set, or `relay:` and the name
 * of a relay of the installation. While both are off, `deliver` itself is returned.
 */
export function observeDialogue(
  { metrics, tracer }: Pick<WorkerDeps, "metrics" | "tracer">,
  transport: string,
  deliver: Transport["deliver"],
): Transport["deliver"] {
  if (metrics === null && tracer === null) return deliver;
  return async (message, recipients, watch) => {
    const startedMs = performance.now();
    const span = tracer?.start("smtp", {
      kind: "client",
      parent: watch.traceparent,
      attributes: { "backstamp.transport": transport, "backstamp.recipients": recipients.length },
    });
    const outcomes = await deliver(message, recipients, watch);
    const [first] = outcomes;
    if (span && first) {
      span.set(attributesOf(first));
      if (first.kind !== "accepted") span.fail(first.class ?? first.kind);
    }
    span?.end();
    if (metrics === null) return outcomes;
    metrics.recordDialogue(transport, (performance.now() - startedMs) / 1_000);
    for (const [index, outcome] of outcomes.entries())
      recordOutcome(metrics, transport, recipients[index], outcome);
    return outcomes;
  };
}

/** The reply without its text, which can contain an address. */
function attributesOf({ kind, host, reply }: Outcome): Attributes {
  return {
    "backstamp.outcome": kind,
    ...(host !== null && { "server.address": host }),
    ...(reply?.code && { "smtp.reply_code": reply.code }),
    ...(reply?.enhanced && { "smtp.enhanced_code": reply.enhanced }),
  };
}

/** Counts the outcome of an attempt for one recipient. */
export function recordOutcome(
  metrics: NonNullable<WorkerDeps["metrics"]>,
  transport: string,
  recipient: Pick<Recipient, "domain"> | undefined,
  outcome: Outcome,
): void {
  // The host of a relay is that of the sender's provider, not of the recipient's.
  const mxHost = transport === "direct" ? outcome.host : null;
  const provider = classifyProvider(recipient?.domain ?? "", mxHost);
  metrics.recordAttempt({ transport, provider, outcome: outcome.kind, replyClass: outcome.class ?? null });
}
