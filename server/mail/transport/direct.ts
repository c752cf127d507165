import { domainToASCII } from "node:url";
import type { AskDns } from "../dns";
import { findExchanges, reachableAddresses } from "../exchanges";
import type { FindStsPolicy, StsPolicy } from "../mta-sts";
import type { Outcome } from "../outcome";
import { deferUnsent } from "./judge";
import { createLoginGate } from "./login-gate";
import { createPool, type Pool } from "./pool";
import { createPools } from "./pools";
import type { SendWatch } from "./send-message";
import { sendPooled } from "./send-pooled";
import { openSession } from "./session";
import type { SmtpTarget } from "./smtp-url";
import { RELAY_TIMEOUTS, type RelayTimeouts } from "./timeouts";
import type { DeliveryWatch, OutgoingMessage, Transport } from "./transport";
import { watchAttempt } from "./watch-attempt";

/** What sending straight to the recipients' servers needs of the world. */
export type DirectMeans = {
  dns: AskDns;
  /** Whether an address may be connected to: owners of domains choose where their MX points. */
  mayReach(address: string): boolean;
  findStsPolicy: FindStsPolicy;
  /** In [0, 1): shares the load between servers of one preference. */
  random(): number;
};

export type DirectOptions = {
  /** Our name in EHLO: a host name that resolves to us, and our address to it. */
  name?: string;
  /** PEM of a root to trust besides the usual ones. */
  ca?: string;
  /** Port of the recipients' servers. */
  port?: number;
  timeouts?: Partial<RelayTimeouts>;
  /** Connections at once to one address of one server. */
  connectionsMax?: number;
};

/** Addresses tried in one attempt, over all servers of a domain. */
const STOPS_MAX = 10;
const CONNECTIONS_MAX = 5;
const IDLE_MS = 20_000;
const MESSAGES_PER_CONNECTION = 100;
const CROWDED_MS = 60_000;
/** An unused destination is forgotten, later than its last connection has ended. */
const KEEP_POOL_MS = 60_000;

/** How TLS stands with one destination: what the mail and the domain's own policy demand together. */
type Security = Pick<SmtpTarget, "tls" | "verify">;

/**
 * Hands messages to the servers that the recipients' domains name in DNS. Servers are tried in the order of their
 * preference, and another one only for recipients whom no server has judged: an answer to a recipient, good or bad, is
 * the domain's answer. TLS is used wherever it is offered, with any certificate; a domain whose MTA-STS policy is to be
 * enforced gets mail over TLS with a valid one or not at all.
 */
export function createDirect(means: DirectMeans, options: DirectOptions = {}): Transport {
  const timeouts = { ...RELAY_TIMEOUTS, ...options.timeouts };
  const gate = createLoginGate(0);
  const pools = createPools(KEEP_POOL_MS);
  const running = new Set<Promise<unknown>>();
  let isClosed = false;

  const poolFor = (target: SmtpTarget, address: string): Pool =>
    createPool({
      connectionsMax: target.connectionsMax,
      idleMs: IDLE_MS,
      messagesMax: MESSAGES_PER_CONNECTION,
      crowdedMs: CROWDED_MS,
      open: (signal) =>
        openSession(target, { name: options.name, ca: options.ca, timeouts, address }, gate, signal),
    });

  /** One address of one server. `left` are those whom it did not judge. */
  async function tryStop(
    stop: { host: string; address: string; security: Security },
    message: OutgoingMessage,
    recipients: readonly string[],
    watch: SendWatch,
  ): Promise<{ outcomes: Outcome[]; left: string[] }> {
    const { host, address, security } = stop;
    const target: SmtpTarget = {
      host,
      port: options.port ?? 25,
      ...security,
      login: null,
      connectionsMax: options.connectionsMax ?? CONNECTIONS_MAX,
    };
    const sent = await pools.use(
      `${host} ${address} ${security.tls} ${security.verify}`,
      () => poolFor(target, address),
      (pool) => sendPooled(pool, message, recipients, watch),
    );
    if ("failure" in sent)
      return {
        outcomes: deferUnsent(recipients, host, sent.failure).map(withoutAlarm),
        left: [...recipients],
      };
    const outcomes = sent.outcomes.map(withoutAlarm);
    return { outcomes, left: outcomes.filter(isUnjudged).map(({ recipient }) => recipient) };
  }

  async function deliverTo(
    domain: string,
    message: OutgoingMessage,
    recipients: readonly string[],
    watch: SendWatch,
  ): Promise<Outcome[]> {
    const exchanges = await findExchanges(means.dns, domain, means.random, watch.signal);
    if (exchanges.kind === "refused" || exchanges.kind === "missing")
      return refuse(recipients, exchanges.reason, exchanges.kind === "missing");
    if (exchanges.kind !== "found") return defer(recipients, endOf(watch.signal) ?? exchanges.reason);
    const policy = await means.findStsPolicy(domain, watch.signal);
    const security = securityOf(message, policy);

    const outcomes = new Map<string, Outcome>();
    let left = [...recipients];
    let stops = 0;
    let hopeless = 0;
    let missing = 0;
    let reason = `No server of ${domain} could be reached.`;
    for (const host of exchanges.hosts) {
      if (left.length === 0 || stops >= STOPS_MAX || watch.signal.aborted) break;
      if (policy?.mode === "enforce" && !policy.covers(host)) {
        reason = `${host} is none of the servers that the MTA-STS policy of ${domain} names.`;
        continue;
      }
      const reachable = await reachableAddresses(means.dns, host, means.mayReach, watch.signal);
      if (reachable.kind !== "found") {
        reason = reachable.reason;
        if (reachable.kind === "refused" || reachable.kind === "missing") hopeless += 1;
        if (reachable.kind === "missing") missing += 1;
        continue;
      }
      for (const address of reachable.addresses.slice(0, STOPS_MAX - stops)) {
        if (left.length === 0 || watch.signal.aborted || !watch.stillMine()) break;
        stops += 1;
        const tried = await tryStop({ host, address, security }, message, left, watch);
        for (const outcome of tried.outcomes) outcomes.set(outcome.recipient, outcome);
        left = tried.left;
      }
    }
    if (hopeless === exchanges.hosts.length) return refuse(recipients, reason, missing > 0);
    const unheard = recipients.filter((recipient) => !outcomes.has(recipient));
    return [...outcomes.values(), ...defer(unheard, endOf(watch.signal) ?? reason)];
  }

  async function deliverAll(
    message: OutgoingMessage,
    recipients: string[],
    watch: SendWatch,
  ): Promise<Outcome[]> {
    const judged = await Promise.all(
      [...groupByDomain(recipients)].map(([domain, group]) => deliverTo(domain, message, [...group], watch)),
    );
    const outcomes = new Map(judged.flat().map((outcome) => [outcome.recipient, outcome]));
    return recipients.flatMap((recipient) => outcomes.get(recipient) ?? []);
  }

  async function deliver(
    message: OutgoingMessage,
    recipients: string[],
    watch: DeliveryWatch,
  ): Promise<Outcome[]> {
    if (isClosed) return defer(recipients, "The transport is shutting down.");
    const { signal, end } = watchAttempt(watch);
    const work = deliverAll(message, recipients, { stillMine: () => watch.stillMine(), signal });
    running.add(work);
    try {
      return await work;
    } catch (error) {
      // As with the relay: of a fault of our own nothing is claimed.
      const reason = `The delivery failed inside Posthorn: ${error instanceof Error ? error.message : String(error)}`;
      return recipients.map((recipient) => ({ recipient, kind: "unknown", reply: null, host: null, reason }));
    } finally {
      end();
      running.delete(work);
    }
  }

  return {
    name: "direct",
    deliver,
    async close() {
      isClosed = true;
      pools.close();
      await Promise.allSettled(running);
    },
  };
}

function securityOf(message: OutgoingMessage, policy: StsPolicy | null): Security {
  if (policy?.mode === "enforce") return { tls: "required", verify: true };
  return { tls: message.needsTls === true ? "required" : "opportunistic", verify: false };
}

/** No answer about this recipient: the connection broke off, or the server sent everybody away. */
function isUnjudged({ kind, reply }: Outcome): boolean {
  return kind === "deferred" && (reply === null || reply.code === null || reply.code === 421);
}

/**
 * What would be a fault of the operator's own relay is here a fault of one destination, for which nobody is to be woken;
 * and where no login is used a refusal in such words is one of the message.
 */
function withoutAlarm({ alarm, ...outcome }: Outcome): Outcome {
  if (alarm !== "auth" || outcome.reply === null) return outcome;
  const isRefusal = (outcome.reply.code ?? 0) >= 500;
  return { ...outcome, kind: isRefusal ? "rejected" : outcome.kind, class: "policy" };
}

/** Why the attempt was ended from outside, if it was. */
const endOf = ({ reason }: AbortSignal): string | null => (reason instanceof Error ? reason.message : null);

const refuse = (recipients: readonly string[], reason: string, isFromDns: boolean): Outcome[] =>
  recipients.map((recipient) => ({
    recipient,
    kind: "rejected",
    reply: null,
    host: null,
    reason,
    ...(isFromDns && { needsSecondLook: true }),
  }));

const defer = (recipients: readonly string[], reason: string): Outcome[] =>
  recipients.map((recipient) => ({ recipient, kind: "deferred", reply: null, host: null, reason }));

/** By the form of the domain that DNS is asked for. */
function groupByDomain(recipients: readonly string[]): Map<string, Set<string>> {
  const groups = new Map<string, Set<string>>();
  for (const recipient of recipients) {
    const domain = domainToASCII(recipient.slice(recipient.lastIndexOf("@") + 1));
    const group = groups.get(domain);
    if (group) group.add(recipient);
    else groups.set(domain, new Set([recipient]));
  }
  return groups;
}
