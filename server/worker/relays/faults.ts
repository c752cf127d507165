import { noteRelayFault, noteRelayWorks, type RelayWay, resumeRelay, takeRelayProbes } from "#db/relays";
import type { WorkerDeps } from "#server/deps";
import { errorFacts } from "#server/log";
import type { Outcome } from "#server/mail/outcome";
import { probeRelay, type RelayMeans } from "./open";

const probesAtOnce = 20;
const probeMs = 30_000;

/** What is wrong with a relay: its login or its TLS, which is grave, or its connection. `reason` may quote the server. */
export type RelayFault = { alarm: "auth" | "tls" | "connect"; code: number | null; reason: string };

/** The fault that an attempt showed. Null where the relay said anything of a recipient, and where it was asked nothing. */
export function faultOf(outcomes: readonly Outcome[]): RelayFault | null {
  const alarming = outcomes.find(({ alarm }) => alarm !== undefined);
  if (alarming?.alarm)
    return { alarm: alarming.alarm, code: alarming.reply?.code ?? null, reason: alarming.reason };
  // Broken off or silent: before the final dot, or after it.
  const isSilent = ({ kind, reply }: Outcome) =>
    reply === null && (kind === "deferred" || kind === "unknown");
  const [first] = outcomes;
  return first && outcomes.every(isSilent) ? { alarm: "connect", code: null, reason: first.reason } : null;
}

const isGraveFault = ({ alarm }: RelayFault): boolean => alarm !== "connect";

/**
 * Records what an attempt showed of a relay, for all workers. Tells whether the relay is paused now. Never throws: an
 * outcome must not be lost to the record of its relay.
 */
export async function noteAttempt(
  { hot, log }: Pick<WorkerDeps, "hot" | "log">,
  relay: Pick<RelayWay, "id" | "name" | "host" | "failures">,
  outcomes: readonly Outcome[],
): Promise<boolean> {
  const found = faultOf(outcomes);
  const facts = { relayId: relay.id, relay: relay.name, host: relay.host };
  try {
    if (found === null) {
      if (relay.failures > 0) await noteRelayWorks(hot, relay.id);
      return false;
    }
    const { alarm, code, reason } = found;
    const isGrave = isGraveFault(found);
    const noted = await noteRelayFault(hot, { id: relay.id, fault: reason, isGrave });
    log[noted?.isNew ? "error" : "warn"](noted?.isNew ? "relay.paused" : "relay.fault", {
      ...facts,
      alarm,
      code,
    });
    return noted?.isPaused ?? true;
  } catch (error) {
    log.warn("relay.not_recorded", { ...facts, ...errorFacts(error) });
    return found !== null && isGraveFault(found);
  }
}

/**
 * Tries the paused relays whose minute is over, each once for all workers and without any mail. Those that take a
 * connection and our login again are resumed; tells how many. Where mail is captured nothing is connected to.
 */
export async function probePaused(
  deps: RelayMeans & Pick<WorkerDeps, "hot" | "log" | "transport">,
  deadlineMs = probeMs,
): Promise<number> {
  if (deps.transport?.name === "capture") return 0;
  const due = await takeRelayProbes(deps.hot, probesAtOnce);
  const resumed = await Promise.all(
    due.map(async (relay) => {
      const facts = { relayId: relay.id, relay: relay.name, host: relay.host };
      const failure = await probeRelay(deps, relay, deadlineMs);
      if (failure === null) {
        deps.log.info("relay.resumed", facts);
        return resumeRelay(deps.hot, relay.id);
      }
      await noteRelayFault(deps.hot, { id: relay.id, fault: failure.reason, isGrave: true });
      const { alarm = "connect", reply } = failure;
      deps.log.error("relay.still_paused", { ...facts, alarm, code: reply?.code ?? null });
      return false;
    }),
  );
  return resumed.filter((isResumed) => isResumed).length;
}
