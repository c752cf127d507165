import type { Facts, Log } from "./log";

/** A fault that repeats is logged once per interval after its first line. */
export const repeatIntervalMs = 60_000;
/** Faults in memory. Beyond that, further faults count by their event only. */
const faultsMax = 500;

/**
 * The facts that distinguish faults with the same event: what failed, and how. Others, such as the id of an
 * email, vary.
 */
const IDENTITY = [
  "kind",
  "code",
  "alarm",
  "relayId",
  "host",
  "store",
  "webhookId",
  "domainId",
  "table",
  "what",
];

/**
 * Warnings and errors that are never merged: each is about one change, one email, one delivery or one secret,
 * or already has a count. Unexpected errors too: the response contains the request id, and the operator finds
 * the fault by it.
 */
const ALWAYS_LOGGED: ReadonlySet<string> = new Set([
  "callback.rejected",
  "callback.unsubscribed",
  "console.unexpected",
  "delivery.lease_expired",
  "delivery.lease_lost",
  "delivery.not_recorded",
  "email.not_composed",
  "first_user.link",
  "inbound.refused",
  "log.calls_lost",
  "passkey.counter_went_back",
  "postgres.died",
  "postgres.restarted",
  "queue.paused",
  "relay.paused",
  "rest.unexpected",
  "system_mail.failed",
  "webhook.disabled",
  "webhook.lease_expired",
  "worker.died",
]);
/** Lines of the level `info` that a client or a destination can cause at any rate. */
const MERGED_INFO: ReadonlySet<string> = new Set([
  "inbound.connection_failed",
  "reply.contradictory",
  "submission.connection_failed",
]);

/** An outage of the database is over when no part of the process has met it for this long. */
export const outageQuietMs = 30_000;
/** The database is too slow for one call. By itself, this is no outage. */
const BUSY = "CONNECTION_BUSY";

type Repeats = { write(facts: Facts): void; count: number; latest: Facts; timer: NodeJS.Timeout };

/**
 * Merges faults that repeat with each email, request or round. The first one is logged at once. While it
 * repeats, one line per minute has the facts of the latest one and `repeated`, the number since the line
 * before. `flush` writes what is not written yet. Uses bounded memory, and no occurrence is left out of the
 * counts.
 */
export function mergeRepeatedFaults(log: Log): Log & { flush(): void } {
  const faults = new Map<string, Repeats>();
  let outage: { count: number; startedMs: number; timer: NodeJS.Timeout } | null = null;

  /**
   * Every part of a process fails while the database is away: one line says so, with the first of them, and
   * one that it is over.
   */
  function isPartOfOutage(event: string, facts: Facts): boolean {
    if (facts.database !== "away" || (!outage && facts.code === BUSY)) return false;
    if (outage) {
      outage.count += 1;
      outage.timer.refresh();
      return true;
    }
    log.warn("database.away", { what: event, ...facts });
    outage = { count: 0, startedMs: performance.now(), timer: setTimeout(endOutage, outageQuietMs).unref() };
    return true;
  }

  function endOutage(): void {
    if (!outage) return;
    const seconds = Math.round((performance.now() - outage.startedMs - outageQuietMs) / 1_000);
    log.info("database.back", { seconds: Math.max(0, seconds), repeated: outage.count });
    outage = null;
  }

  function writeRepeats(fault: Repeats): void {
    if (fault.count > 0) fault.write({ ...fault.latest, repeated: fault.count });
    fault.count = 0;
  }

  function startInterval(key: string, write: Repeats["write"]): void {
    const timer = setInterval(() => {
      if (fault.count > 0) return writeRepeats(fault);
      clearInterval(timer);
      faults.delete(key);
    }, repeatIntervalMs).unref();
    const fault: Repeats = { write, count: 0, latest: {}, timer };
    faults.set(key, fault);
  }

  function report(event: string, facts: Facts, write: Repeats["write"]): void {
    const exact = JSON.stringify([event, ...IDENTITY.map((name) => facts[name])]);
    const key = faults.has(exact) || faults.size < faultsMax ? exact : event;
    const known = faults.get(key);
    if (known) {
      known.count += 1;
      known.latest = facts;
      return;
    }
    startInterval(key, write);
    write(facts);
  }

  const merged =
    (level: "info" | "warn" | "error", isMerged: (event: string) => boolean) =>
    (event: string, facts: Facts = {}) => {
      if (level !== "info" && isPartOfOutage(event, facts)) return;
      const write = (given: Facts) => log[level](event, given);
      if (isMerged(event)) report(`${level} ${event}`, facts, write);
      else write(facts);
    };
  const isFault = (event: string) => !ALWAYS_LOGGED.has(event);
  return {
    info: merged("info", (event) => MERGED_INFO.has(event)),
    warn: merged("warn", isFault),
    error: merged("error", isFault),
    flush() {
      if (outage) {
        clearTimeout(outage.timer);
        log.warn("database.away", { repeated: outage.count });
        outage = null;
      }
      for (const fault of faults.values()) {
        clearInterval(fault.timer);
        writeRepeats(fault);
      }
      faults.clear();
    },
  };
}
