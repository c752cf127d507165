import type { WorkerDeps } from "#server/deps";
import type { Outcome } from "#server/mail/outcome";
import { isRelay } from "#server/mail/transport/relay";
import { errorFacts } from "#server/platform/log";
import { probeRelay, type RelayDeps } from "#server/services/relays/connect";
import {
  claimRelayProbes,
  recordRelayFault,
  recordRelaySuccess,
  resumeRelay,
  type SendingRelay,
} from "#server/services/relays/health";
import { openRelay, type RelayClients } from "./relay-client";

const probesBatch = 20;
const probeMs = 30_000;

/**
 * A fault of a relay: login and TLS faults are severe, connection faults are not. `reason` may quote the
 * server.
 */
type RelayFault = { alarm: "auth" | "tls" | "connect"; code: number | null; reason: string };

/**
 * A lost connection or a timeout, before or after the final dot. An email that needs a more secure connection
 * than that of the relay has a class.
 */
const isSilent = ({ kind, reply, class: cause }: Outcome): boolean =>
  reply === null && cause === undefined && (kind === "deferred" || kind === "unknown");

/**
 * The relay fault in these outcomes. Null if the relay replied for any recipient, and if there are no
 * outcomes.
 */
function relayFaultOf(outcomes: readonly Outcome[]): RelayFault | null {
  for (const { alarm, reply, reason } of outcomes)
    if (alarm) return { alarm, code: reply?.code ?? null, reason };
  const [first] = outcomes;
  return first && outcomes.every(isSilent) ? { alarm: "connect", code: null, reason: first.reason } : null;
}

/**
 * Records the relay's success or fault for all workers, and pauses the relay in this process too. Returns the
 * outcomes to record. While the relay is paused, an email that it did not reply to waits for the relay, and
 * its attempt is not counted. A silence that pauses no relay is counted, because the email itself can cause
 * it. Never throws: a failed write here must not lose the outcomes.
 */
export async function recordRelayResult(
  deps: Pick<WorkerDeps, "hot" | "log">,
  clients: Pick<RelayClients, "pause" | "isFailing" | "setFailing">,
  relay: SendingRelay,
  outcomes: Outcome[],
): Promise<Outcome[]> {
  if (!(await recordResult(deps, clients, relay, outcomes))) return outcomes;
  clients.pause(relay);
  return outcomes.map((outcome) =>
    outcome.kind === "deferred" && isSilent(outcome)
      ? { ...outcome, alarm: outcome.alarm ?? "connect" }
      : outcome,
  );
}

/** Returns whether the relay is now paused. */
async function recordResult(
  { hot, log }: Pick<WorkerDeps, "hot" | "log">,
  clients: Pick<RelayClients, "isFailing" | "setFailing">,
  relay: SendingRelay,
  outcomes: readonly Outcome[],
): Promise<boolean> {
  const fault = relayFaultOf(outcomes);
  const facts = { relayId: relay.id, relay: relay.name, host: relay.host };
  const shouldPauseNow = fault !== null && fault.alarm !== "connect";
  try {
    if (fault === null) {
      if (clients.isFailing(relay)) {
        clients.setFailing(relay, false);
        await recordRelaySuccess(hot, relay);
      }
      return false;
    }
    clients.setFailing(relay, true);
    const { alarm, code, reason } = fault;
    const recorded = await recordRelayFault(hot, relay, { fault: reason, shouldPauseNow });
    if (recorded?.isNew) log.error("relay.paused", { ...facts, alarm, code });
    else if (!recorded?.isPaused) log.warn("relay.fault", { ...facts, alarm, code });
    return recorded?.isPaused ?? true;
  } catch (error) {
    log.warn("relay.not_recorded", { ...facts, ...errorFacts(error) });
    return shouldPauseNow;
  }
}

/**
 * Probes the new and the paused relays that are due, that of `SMTP_URL` included, one probe a minute per
 * relay over all workers, without sending an email. A relay that accepts connection and login is resumed.
 * Returns how many were resumed. With the capture transport nothing is probed.
 */
export async function probePausedRelays(
  deps: RelayDeps & Pick<WorkerDeps, "hot" | "log" | "transport">,
  msMax = probeMs,
): Promise<number> {
  if (deps.transport?.name === "capture") return 0;
  const smtpUrlRelay = isRelay(deps.transport) ? deps.transport : null;
  const due = await claimRelayProbes(deps.hot, { limit: probesBatch, smtpUrlRelay });
  const resumed = await Promise.all(
    due.map(async (relay) => {
      const facts = { relayId: relay.id, relay: relay.name, host: relay.host };
      const failure = await probeRelay(() => openRelay(deps, smtpUrlRelay, relay), Math.min(probeMs, msMax));
      if (failure === null) {
        deps.log.info("relay.resumed", facts);
        return resumeRelay(deps.hot, relay);
      }
      await recordRelayFault(deps.hot, relay, { fault: failure.reason, shouldPauseNow: true });
      const { alarm = "connect", reply } = failure;
      deps.log.error("relay.still_paused", { ...facts, alarm, code: reply?.code ?? null });
      return false;
    }),
  );
  return resumed.filter((isResumed) => isResumed).length;
}
