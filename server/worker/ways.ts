import { performance } from "node:perf_hooks";
import { type RelayWay, readRelaysFor, relayProbeEveryMs } from "#db/relays";
import type { WorkerDeps } from "#server/deps";
import { deliverInOrder, type OrderedRelay } from "#server/mail/transport/fail-over";
import { deferAll } from "#server/mail/transport/judge";
import type { Transport } from "#server/mail/transport/transport";
import type { StoredMessage } from "./messages";
import { noteAttempt } from "./relays/faults";
import { createOpenRelays, type OpenRelays } from "./relays/open-relays";

/** Mail that waits for a paused relay comes back one after the other, and within this time. */
const spreadMs = { step: 20, most: 10 * 60_000 };

/** How a mail leaves the house. */
export type Way = {
  deliver: Transport["deliver"];
  /** Acceptance is the end of the journey, not a step of it. */
  isFinal: boolean;
  /** Its recipients are apart by their domains, each at the pace of that destination. */
  isByDestination: boolean;
  /** What its pace is learned of as a whole; null where there is no such pace. */
  paceKey: string | null;
  /** Its own faults are waited out without an end: they never use up the attempts of a mail. */
  waitsOutFaults: boolean;
  /** For how long a mail should wait as long as nothing can be tried; null where something can. */
  waitMs(): number | null;
};

/** Finds the way of a mail, null where there is none. */
export type ChooseWay = (mail: Pick<StoredMessage, "teamId" | "domainId">) => Way | null;

/**
 * The ways out: the relays of the sender's domain, else those of its team, else those of the installation, else the one
 * that `SMTP_URL` names. Relays of one such scope stand in for each other, never for those of another: that would be mail
 * from servers that its sender did not name. Where `SMTP_URL` captures, nothing leaves by any relay.
 */
export type Ways = {
  /** Asks for the relays of these teams, as they are now. */
  read(teamIds: readonly string[]): Promise<ChooseWay>;
  close(): Promise<void>;
};

export function createWays(deps: WorkerDeps): Ways {
  const set = deps.transport && wayOfTransport(deps.transport);
  if (deps.transport?.name === "capture") return { read: async () => () => set, close: async () => {} };
  const open = createOpenRelays(deps);
  /** Up to when mail that waits for relays is spread, by their ids. */
  const spreadTo = new Map<string, number>();

  return {
    async read(teamIds) {
      const askedAtMs = performance.now();
      const relays = await readRelaysFor(deps.hot, [...new Set(teamIds)]);
      for (const relay of relays) open.heard(relay, askedAtMs);
      if (relays.length === 0) return () => set;
      const known = new Map<string, Way>();
      return ({ teamId, domainId }) => {
        const chosen = scopeOf(relays, teamId, domainId);
        if (chosen.length === 0) return set;
        const key = chosen.map(({ id }) => id).join(" ");
        const way = known.get(key) ?? wayOfRelays(deps, open, chosen, spreadTo, key);
        known.set(key, way);
        return way;
      };
    },
    close: () => open.close(),
  };
}

/** The innermost scope that has relays. */
function scopeOf(relays: readonly RelayWay[], teamId: string, domainId: string | null): RelayWay[] {
  const ofTeam = relays.filter((relay) => relay.teamId === teamId);
  const ofDomain = ofTeam.filter((relay) => relay.domainId !== null && relay.domainId === domainId);
  if (ofDomain.length > 0) return ofDomain;
  const ofWholeTeam = ofTeam.filter((relay) => relay.domainId === null);
  return ofWholeTeam.length > 0 ? ofWholeTeam : relays.filter((relay) => relay.teamId === null);
}

const wayOfTransport = (transport: Transport): Way => ({
  deliver: (message, recipients, watch) => transport.deliver(message, recipients, watch),
  isFinal: transport.name !== "relay",
  isByDestination: transport.name === "direct",
  paceKey: null,
  waitsOutFaults: false,
  waitMs: () => null,
});

function wayOfRelays(
  deps: WorkerDeps,
  open: OpenRelays,
  relays: readonly RelayWay[],
  spreadTo: Map<string, number>,
  key: string,
): Way {
  const ordered = relays.map(
    (relay): OrderedRelay => ({
      id: relay.id,
      host: relay.host,
      signs: relay.dkim,
      provider: relay.provider,
      pause: () =>
        isPaused(open, relay)
          ? `The relay ${relay.name} is paused since it failed${relay.lastFault === null ? "." : `: ${relay.lastFault}`}`
          : null,
      async deliver(message, recipients, watch) {
        const outcomes = await open.use(
          relay,
          (opened) => opened.deliver(message, recipients, watch),
          (reason) => deferAll(recipients, relay.host, { alarm: "auth", reason }),
        );
        // What we broke off ourselves says nothing of the relay.
        if (watch.signal?.aborted || !watch.stillMine()) return outcomes;
        if (await noteAttempt(deps, relay, outcomes)) open.pause(relay);
        return outcomes;
      },
    }),
  );
  return {
    deliver: (message, recipients, watch) => deliverInOrder(ordered, message, recipients, watch),
    isFinal: false,
    isByDestination: false,
    // The operator's relays carry everybody's mail, as SMTP_URL does; a team's slow relay must not take others' places.
    paceKey: relays.some(({ teamId }) => teamId !== null) ? key : null,
    waitsOutFaults: true,
    waitMs() {
      if (!relays.every((relay) => isPaused(open, relay))) return null;
      const atMs = performance.now();
      const leastMs = atMs + Math.min(...relays.map((relay) => relay.pausedForMs ?? relayProbeEveryMs));
      const toMs = Math.min(
        Math.max(spreadTo.get(key) ?? 0, leastMs) + spreadMs.step,
        leastMs + spreadMs.most,
      );
      spreadTo.set(key, toMs);
      return Math.ceil(toMs - atMs);
    },
  };
}

const isPaused = (open: OpenRelays, relay: RelayWay): boolean =>
  relay.pausedForMs !== null || open.isPaused(relay);
