import { performance } from "node:perf_hooks";
import type { WorkerDeps } from "#server/deps";
import { startConnectionsOf } from "#server/mail/destinations";
import { quote } from "#server/mail/outcome";
import { createBatches, upTo } from "#server/platform/batches";
import { setBounded } from "#server/platform/bounded-map";
import { errorFacts } from "#server/platform/log";
import { within } from "#server/platform/within";
import { readDestinationHosts } from "#server/services/destinations/hosts";
import {
  type DestinationChange,
  type ReadDestination,
  readDestinations,
  recordDestinations,
} from "#server/services/destinations/states";
import {
  createDestinationThrottles,
  type DialogueSlot,
  type Learning,
  NOTHING,
} from "./destination-throttles";
import { postponeBacklog, releaseWaiting } from "./postpone-backlog";

/** What other workers learned takes effect here within this time. What was accepted is recorded as often. */
const freshMs = 1_000;
/** Without an answer of DNS in this time, the recipients' domain is the destination. */
const findMsMax = 2_000;
const hostsFreshMs = 10_000;
const namesMax = 10_000;
/** Between two series of deliveries that are made due for one destination. */
const releaseEveryMs = 100;
const readBatch = 500;
const reasonMax = 300;

type Found = { name: string; source: string | null };
/** The name of a throttle for the operator's limit for the recipients of a domain. */
const ofRecipients = (domain: string) => `@${domain}`;
const plainName = (name: string) => name.replace(/^@/, "");
/** How long a delivery must wait, and for which destination; `move` postpones those behind it. */
export type DestinationDelay = { waitMs: number; behind?: { destination: string; move(): Promise<number> } };

/**
 * The destinations of direct delivery: providers, whose limits all workers share in `destination_states`. An
 * objection is recorded at once, accepted transactions once a second for each worker, so no dialogue waits
 * for a lock. `onReleased` is called when deliveries of the queue became due.
 */
export function createSharedDestinations(
  { hot, log, transport }: Pick<WorkerDeps, "hot" | "log" | "transport">,
  options: { concurrencyMax: number; workerId: string; moveBatch: number; onReleased?(): void },
) {
  const { workerId, moveBatch } = options;
  const nowMs = () => performance.now();
  const throttles = createDestinationThrottles({
    concurrencyMax: options.concurrencyMax,
    nowMs,
    onLearned,
    onCapacity: (name, count) => void release(name, count),
  });
  const found = new Map<string, { untilMs: number; found: Promise<Found> }>();
  const readAtMs = new Map<string, number>();
  const reading = new Map<string, Promise<void>>();
  const releasing = new Set<string>();
  /** The address that email is sent from, once it is found. */
  let source = "";
  let pending = new Map<string, Learning>();
  let recording: Promise<void> | null = null;
  let recorded = new Set<string>();
  let recordTimer: NodeJS.Timeout | undefined;
  let own: { untilMs: number; hosts: Promise<ReadonlyMap<string, string>> } | null = null;
  const warn = (event: string) => (error: unknown) => log.warn(event, errorFacts(error));

  const ownHosts = () => {
    if (own === null || own.untilMs < nowMs()) {
      const hosts = readDestinationHosts(hot).catch((error) => {
        warn("destination.hosts_unread")(error);
        return new Map<string, string>();
      });
      own = { untilMs: nowMs() + hostsFreshMs, hosts };
    }
    return own.hosts;
  };

  /** Names the destination of a domain, with a query that is not part of any claim. */
  async function findNow(domain: string): Promise<Found> {
    const hosts = await ownHosts();
    const unknown = { name: domain, source: null };
    if (!transport?.findDestination) return unknown;
    const signal = AbortSignal.timeout(findMsMax);
    return within(transport.findDestination(domain, hosts, signal), { signal }).catch(() => unknown);
  }

  function find(domain: string): Promise<Found> {
    const known = found.get(domain);
    if (known && known.untilMs > nowMs()) return known.found;
    const now = findNow(domain);
    setBounded(found, domain, { untilMs: nowMs() + hostsFreshMs, found: now }, namesMax);
    return now;
  }

  const read = createBatches<string, ReadDestination | undefined>(
    async (names) => {
      const all = await readDestinations(hot, {
        source,
        workerId,
        names: [...new Set(names.map(plainName))],
      });
      return (name) => all.get(plainName(name));
    },
    { countNext: upTo(readBatch) },
  );

  async function refreshNow(name: string): Promise<void> {
    try {
      const [row] = await read([name]);
      if (!row) return;
      setBounded(readAtMs, name, nowMs(), namesMax);
      const { limit, workers, blockedForMs } = row;
      const isOperators = name.startsWith("@");
      const isBehind = pending.has(name) || recorded.has(name);
      const unknown = { connections: startConnectionsOf(name), perMinute: null, accepted: 0, objections: 0 };
      throttles.update(name, {
        limit,
        workers,
        ...(isOperators
          ? { learned: NOTHING }
          : !isBehind && { learned: row.learned ?? unknown, blockedForMs }),
      });
    } catch (error) {
      // The last known limits apply.
      warn("destination.unread")(error);
    } finally {
      reading.delete(name);
    }
  }

  async function refresh(names: readonly string[]): Promise<void> {
    const stale = names.filter(
      (name) => (readAtMs.get(name) ?? Number.NEGATIVE_INFINITY) < nowMs() - freshMs,
    );
    await Promise.all(
      stale.map((name) => {
        const now = reading.get(name) ?? refreshNow(name);
        if (!reading.has(name)) reading.set(name, now);
        return now;
      }),
    );
  }

  function onLearned(name: string, { accepted, raised, objection }: Learning): void {
    const before = pending.get(name);
    pending.set(name, {
      accepted: (before?.accepted ?? 0) + accepted,
      raised: (before?.raised ?? 0) + raised,
      objection: before?.objection ?? objection,
    });
    if (objection) void recordPending();
    else recordTimer ??= setTimeout(() => void recordPending(), freshMs);
  }

  async function recordPending(): Promise<void> {
    while (recording) await recording;
    clearTimeout(recordTimer);
    recordTimer = undefined;
    if (pending.size === 0) return;
    const learned = pending;
    pending = new Map();
    recorded = new Set(learned.keys());
    recording = recordNow(learned);
    await recording;
  }

  async function recordNow(learned: ReadonlyMap<string, Learning>): Promise<void> {
    try {
      const changes = [...learned].map(([name, learning]) => changeOf(name, source, learning));
      for (const { destination, blockedForMs, ...state } of await recordDestinations(hot, changes))
        if (!pending.has(destination))
          throttles.update(destination, { learned: state, blockedForMs: blockedForMs ?? 0 });
    } catch (error) {
      warn("destination.not_recorded")(error);
    } finally {
      recorded = new Set();
      recording = null;
    }
  }

  async function release(name: string, count: number): Promise<void> {
    if (releasing.has(name)) return;
    releasing.add(name);
    throttles.setBacklog(name, false);
    try {
      const released = await releaseWaiting(hot, name, count);
      if (released > 0) throttles.setBacklog(name, true);
      if (released > 0) options.onReleased?.();
    } catch (error) {
      warn("destination.not_released")(error);
      throttles.setBacklog(name, true);
    }
    setTimeout(() => releasing.delete(name), releaseEveryMs).unref();
  }

  const isDirect = transport?.name === "direct";
  const rounds = isDirect ? setInterval(() => void refresh(throttles.listBacklogs()), freshMs) : undefined;
  rounds?.unref();

  function delayOf(name: string, waitMs: number, teamId: string, domain: string): DestinationDelay {
    const domains = throttles.addDomain(name, domain);
    const move = () =>
      throttles.postponeBehind(name, (schedule) =>
        postponeBacklog(hot, { teamId, destination: name, domains }, schedule, moveBatch),
      );
    return { waitMs, behind: { destination: name, move } };
  }

  return {
    /** A slot for a dialogue with the destination of this domain, or how long and for what it must wait. */
    async acquire(domain: string, teamId: string): Promise<DialogueSlot | DestinationDelay> {
      const { name, ...from } = await find(domain);
      if (from.source !== null) source = from.source;
      const ofDomain = ofRecipients(domain);
      await refresh(name === domain ? [name] : [name, ofDomain]);
      const byOperator =
        name !== domain && throttles.isLimited(ofDomain) ? await throttles.acquire(ofDomain) : null;
      if (byOperator && "waitMs" in byOperator) return delayOf(ofDomain, byOperator.waitMs, teamId, domain);
      const slot = await throttles.acquire(name);
      if ("waitMs" in slot) {
        byOperator?.release(null);
        return delayOf(name, slot.waitMs, teamId, domain);
      }
      if (!byOperator) return slot;
      const slots = [byOperator, slot];
      return {
        startDialogue: () => slots.forEach((one) => void one.startDialogue()),
        release: (outcomes) => slots.forEach((one) => void one.release(outcomes)),
      };
    },

    /** Reports what was learned and is not recorded yet. */
    async close(): Promise<void> {
      clearInterval(rounds);
      await recordPending();
    },
  };
}

function changeOf(
  destination: string,
  source: string,
  { objection, ...learning }: Learning,
): DestinationChange {
  const start = startConnectionsOf(destination);
  if (objection === null) return { source, destination, start, ...learning, objection };
  const { reply, ...when } = objection;
  // A reply can name the recipient.
  const words = reply.reply === null ? [] : quote(reply.reply).split(" ");
  const text = words.map((word) => (word.includes("@") ? "…" : word)).join(" ");
  return { source, destination, start, ...learning, objection: { ...when, reply: text.slice(0, reasonMax) } };
}
