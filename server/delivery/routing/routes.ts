import { performance } from "node:perf_hooks";
import type { WorkerDeps } from "#server/deps";
import { deliverInOrder, type OrderedRelay } from "#server/mail/transport/fail-over";
import { deferAll } from "#server/mail/transport/judge";
import { isRelay } from "#server/mail/transport/relay";
import { addressesOf, type Transport } from "#server/mail/transport/transport";
import {
  getSmtpUrlRelay,
  listRelaysFor,
  relayProbeEveryMs,
  type SendingRelay,
} from "#server/services/relays/health";
import type { StoredMessage } from "../attempt/stored-messages";
import { observeDialogue } from "./observe-dialogue";
import { createRelayClients, type RelayClients } from "./relay-client";
import { recordRelayResult } from "./relay-faults";

/** Deliveries that wait for a paused relay are due again one `step` after another, within `max`. */
const spreadMs = { step: 20, max: 10 * 60_000 };

/** How an email is sent: by the configured transport or by relays. */
export type Route = {
  deliver: Transport["deliver"];
  /** An accepted email counts as delivered, not only as sent. */
  isFinal: boolean;
  /** Recipients are grouped by domain; each domain is a throttled destination. */
  isByDestination: boolean;
  /** Key of the throttle for the route as a whole; null if it is not throttled as a whole. */
  throttleKey: string | null;
  /**
   * The route has relays: after a fault of the route (login, TLS …) a delivery waits for a relay, without
   * limit.
   */
  retriesFaultsIndefinitely: boolean;
  /** How long a delivery should wait if all relays are paused; null if one is available. */
  waitMs(): number | null;
};

/**
 * How a relay is chosen:
 *
 * 1. With `SMTP_URL=capture:` no relay is used.
 * 2. The first scope that has relays: the sender's domain, its team, the installation. Without any, the
 *    transport of `SMTP_URL`. Relays of an outer scope never replace failed relays of an inner one: a team
 *    that has relays decides which servers send its email. A relay in `SMTP_URL` is paused and probed like
 *    any other.
 * 3. Within the scope, relays are tried by position, then by age. A paused one is skipped (`relay-faults.ts`
 *    pauses and resumes them), and the next one gets only recipients that no relay accepted or rejected
 *    (`deliverInOrder`).
 * 4. If all are paused, the email waits in the queue until the first one is probed again (`waitMs`).
 */
export type Routing = {
  /**
   * Reads the current relays of these teams. Returns the function that chooses the route of an email, null if
   * there is none.
   */
  read(
    teamIds: readonly string[],
  ): Promise<(email: Pick<StoredMessage, "teamId" | "domainId">) => Route | null>;
  close(): Promise<void>;
};

export function createRouting(deps: WorkerDeps): Routing {
  const { transport } = deps;
  const smtpUrlRelay = isRelay(transport) ? transport : null;
  const fixedRoute = transport && routeOfTransport(deps, transport);
  if (transport?.name === "capture") return { read: async () => () => fixedRoute, close: async () => {} };
  const clients = createRelayClients(deps, smtpUrlRelay);
  /** Due time of the last delivery that waits for relays, by relay ids. */
  const spreadUntilMs = new Map<string, number>();

  return {
    async read(teamIds) {
      const readAtMs = performance.now();
      const [relays, bySmtpUrl] = await Promise.all([
        listRelaysFor(deps.hot, [...new Set(teamIds)]),
        smtpUrlRelay && getSmtpUrlRelay(deps.hot, smtpUrlRelay),
      ]);
      for (const relay of bySmtpUrl ? [...relays, bySmtpUrl] : relays) clients.refresh(relay, readAtMs);
      const defaultRoute = bySmtpUrl
        ? routeOfRelays(deps, clients, [bySmtpUrl], spreadUntilMs, bySmtpUrl.id)
        : fixedRoute;
      if (relays.length === 0) return () => defaultRoute;
      const known = new Map<string, Route>();
      return ({ teamId, domainId }) => {
        const chosen = scopeOf(relays, teamId, domainId);
        if (chosen.length === 0) return defaultRoute;
        const key = chosen.map(({ id }) => id).join(" ");
        const route = known.get(key) ?? routeOfRelays(deps, clients, chosen, spreadUntilMs, key);
        known.set(key, route);
        return route;
      };
    },
    close: () => clients.close(),
  };
}

/** The innermost scope that has relays. */
function scopeOf(relays: readonly SendingRelay[], teamId: string, domainId: string | null): SendingRelay[] {
  const ofTeam = relays.filter((relay) => relay.teamId === teamId);
  const ofDomain = ofTeam.filter((relay) => relay.domainId !== null && relay.domainId === domainId);
  if (ofDomain.length > 0) return ofDomain;
  const ofWholeTeam = ofTeam.filter((relay) => relay.domainId === null);
  return ofWholeTeam.length > 0 ? ofWholeTeam : relays.filter((relay) => relay.teamId === null);
}

const routeOfTransport = (deps: WorkerDeps, transport: Transport): Route => ({
  deliver: observeDialogue(
    deps,
    transport.name === "relay" ? "smtp_url" : transport.name,
    (message, recipients, watch) => transport.deliver(message, recipients, watch),
  ),
  isFinal: transport.name !== "relay",
  isByDestination: transport.name === "direct",
  throttleKey: null,
  retriesFaultsIndefinitely: false,
  waitMs: () => null,
});

function routeOfRelays(
  deps: WorkerDeps,
  clients: RelayClients,
  relays: readonly SendingRelay[],
  spreadUntilMs: Map<string, number>,
  key: string,
): Route {
  const ordered = relays.map(
    (relay): OrderedRelay => ({
      id: relay.isSmtpUrl ? null : relay.id,
      host: relay.host,
      signs: relay.dkim,
      provider: relay.provider,
      pause: () =>
        relay.pauseReason !== null
          ? `The operator paused the relay ${relay.name}: ${relay.pauseReason}`
          : clients.isPaused(relay)
            ? `The relay ${relay.name} is paused after a failure${relay.lastFault === null ? "." : `: ${relay.lastFault}`}`
            : null,
      deliver: observeDialogue(deps, labelOf(relay), async (message, recipients, watch) => {
        const outcomes = await clients.use(
          relay,
          (client) => client.deliver(message, recipients, watch),
          (reason) => deferAll(addressesOf(recipients), relay.host, { alarm: "auth", reason }),
        );
        // An attempt that we aborted gives no information about the relay.
        if (watch.signal?.aborted || !watch.isLeaseValid()) return outcomes;
        return recordRelayResult(deps, clients, relay, outcomes);
      }),
    }),
  );
  return {
    deliver: (message, recipients, watch) => deliverInOrder(ordered, message, recipients, watch),
    isFinal: false,
    isByDestination: false,
    // The operator's relays are shared by all teams, like SMTP_URL. A team's slow relay must not use other
    // teams' slots.
    throttleKey: relays.some(({ teamId }) => teamId !== null) ? key : null,
    retriesFaultsIndefinitely: true,
    waitMs() {
      if (!relays.every(clients.isPaused)) return null;
      const atMs = performance.now();
      const minMs = atMs + Math.min(...relays.map((relay) => relay.pausedForMs ?? relayProbeEveryMs));
      const dueMs = Math.min(
        Math.max(spreadUntilMs.get(key) ?? 0, minMs) + spreadMs.step,
        minMs + spreadMs.max,
      );
      spreadUntilMs.set(key, dueMs);
      return Math.ceil(dueMs - atMs);
    },
  };
}

/**
 * The relays of teams share one label, because their number has no limit and their names belong to the teams.
 */
const labelOf = ({ teamId, name, isSmtpUrl }: SendingRelay): string => {
  if (isSmtpUrl) return "smtp_url";
  return teamId === null ? `relay:${name}` : "team_relay";
};
