import type { X509Certificate } from "node:crypto";
import { isIdleTimeout, nameDestination } from "../destinations";
import { type Dane, findDane, isProvedByDane } from "../dns/dane";
import type { QueryDns } from "../dns/dns";
import type { FindStsPolicy, StsPolicy } from "../dns/mta-sts";
import { findMxHosts, resolveAllowedAddresses } from "../dns/mx-hosts";
import { getReplyClass, type Outcome, type Reply } from "../outcome";
import { deferAll, setOutcome } from "./judge";
import type { ConnectionOptions } from "./smtp/connection";
import { createLoginGate } from "./smtp/login-gate";
import { type Connections, createPool, type Pool } from "./smtp/pool";
import { sendPooled } from "./smtp/send-pooled";
import { openSession } from "./smtp/session";
import { RELAY_TIMEOUTS, type RelayTimeouts } from "./smtp/timeouts";
import type { SmtpTarget } from "./smtp-url";
import { createTransport, type OutgoingMessage, type SendWatch, type Transport } from "./transport";

/** Dependencies for direct delivery to the recipients' MX hosts. */
export type DirectDependencies = {
  dns: QueryDns;
  /**
   * Whether a connection to this address is allowed: a domain's owner controls where its MX records point.
   */
  canConnectTo(address: string): boolean;
  findStsPolicy: FindStsPolicy;
  /** In [0, 1): distributes the load between MX hosts of equal preference. */
  random(): number;
  /** For the validity of certificates that DANE proves. */
  clock(): Date;
};

export type DirectOptions = {
  /** Our name in EHLO: a host name with matching forward and reverse DNS. */
  name?: string;
  /** PEM of an additional trusted root certificate. */
  ca?: string;
  /** Port of the MX hosts. */
  port?: number;
  timeouts?: Partial<RelayTimeouts>;
  /** Concurrent connections to one address of one MX host. */
  connectionsMax?: number;
};

/** Addresses tried in one attempt, across all MX hosts of a domain. */
const ADDRESSES_MAX = 10;
const CONNECTIONS_MAX = 5;
const IDLE_MS = 20_000;
const MESSAGES_PER_CONNECTION = 100;
const CROWDED_MS = 60_000;

/**
 * TLS requirements for one MX host: those of its TLSA records, of the domain's MTA-STS policy and of the
 * message combined. `demand` is the sentence about who requires it.
 */
type Security = Pick<SmtpTarget, "tls" | "verify"> & {
  dane?: Dane;
  verifiedBy?: "DANE" | "MTA-STS" | "its certificate";
  demand?: string;
};

/**
 * Delivers messages to the MX hosts of the recipients' domains. MX hosts are tried in order of preference.
 * The next one is tried only for recipients without a final or temporary reply: the first reply about a
 * recipient counts for the whole domain. TLS is opportunistic, with any certificate. An MX host with TLSA
 * records that DNSSEC proves (DANE, RFC 7672), and a domain with an enforced MTA-STS policy (RFC 8461),
 * receive email only over TLS with a certificate that these prove; DANE takes precedence. A message can
 * require this of every host.
 */
export function createDirect(deps: DirectDependencies, options: DirectOptions = {}): Transport {
  const timeouts = { ...RELAY_TIMEOUTS, ...options.timeouts };
  const { port = 25 } = options;
  const gate = createLoginGate(0);
  /** Of the addresses that have a connection or rejected one, by address and security. */
  const pools = new Map<string, Pool>();

  const openPool = (
    key: string,
    target: SmtpTarget,
    connection: Pick<ConnectionOptions, "address" | "verifiedBy" | "isNamed">,
  ): Pool => {
    const pool = createPool({
      connectionsMax: target.connectionsMax,
      idleMs: IDLE_MS,
      messagesMax: MESSAGES_PER_CONNECTION,
      crowdedMs: CROWDED_MS,
      open: (signal) =>
        openSession(target, { name: options.name, ca: options.ca, timeouts, ...connection }, gate, signal),
      onUnused: () => pools.delete(key),
    });
    pools.set(key, pool);
    return pool;
  };

  /** Its pool is looked up each time: while a message is sent, it can become unused. */
  const connectionsTo = (target: SmtpTarget, address: string, security: Security): Connections => {
    const { tls, verify, dane, verifiedBy } = security;
    const key = `${target.host} ${address} ${tls} ${verify} ${verifiedBy} ${dane?.id} ${dane?.names}`;
    const isNamed = dane && ((leaf: X509Certificate) => isProvedByDane(leaf, dane, deps.clock()));
    const pool = () => pools.get(key) ?? openPool(key, target, { address, verifiedBy, isNamed });
    return {
      acquire: (signal, isFresh) => pool().acquire(signal, isFresh),
      release: (session) => pool().release(session),
      // At 421 a server that answers is left alone. It sends nothing else to end an idle connection.
      mayRepeat: (outcomes) =>
        outcomes.every(({ reply, ...one }) => reply === null || isIdleTimeout({ reply, ...one })),
    };
  };

  /** Tries one address of one MX host. `left` are the recipients without a reply. */
  async function tryAddress(
    destination: { host: string; address: string; security: Security },
    message: OutgoingMessage,
    recipients: readonly string[],
    watch: SendWatch,
  ): Promise<{ outcomes: Outcome[]; left: readonly string[] }> {
    const { host, address, security } = destination;
    const target: SmtpTarget = {
      host,
      port,
      tls: security.tls,
      verify: security.verify,
      login: null,
      connectionsMax: options.connectionsMax ?? CONNECTIONS_MAX,
    };
    const sent = await sendPooled(connectionsTo(target, address, security), message, recipients, watch);
    if ("failure" in sent) {
      const { failure } = sent;
      const isDemanded = failure.alarm === "tls" && security.demand !== undefined;
      const explained = isDemanded ? { ...failure, reason: `${failure.reason} ${security.demand}` } : failure;
      return {
        outcomes: deferAll(recipients, host, explained).map(withoutAlarm),
        left: isAboutRate(failure.reply ?? null) ? [] : recipients,
      };
    }
    const outcomes = sent.outcomes.map(withoutAlarm);
    return { outcomes, left: outcomes.filter(hasNoReply).map(({ recipient }) => recipient) };
  }

  async function deliverTo(
    domain: string,
    message: OutgoingMessage,
    recipients: readonly string[],
    watch: SendWatch,
  ): Promise<Outcome[]> {
    const { signal } = watch;
    const defer = (untried: readonly string[], reason: string) =>
      deferAll(untried, null, { reason: signal.reason instanceof Error ? signal.reason.message : reason });
    const reject = (reason: string, isMissing: boolean) =>
      setOutcome(recipients, {
        kind: "rejected",
        host: null,
        reason,
        needsConfirmation: isMissing || undefined,
      });
    const mxHosts = await findMxHosts(deps.dns, domain, deps.random, signal);
    if (mxHosts.kind === "unsure") return defer(recipients, mxHosts.reason);
    if (mxHosts.kind !== "found") return reject(mxHosts.reason, mxHosts.kind === "missing");
    const policy = await deps.findStsPolicy(domain, signal);

    const outcomes = new Map<string, Outcome>();
    let left = recipients;
    let tries = 0;
    let unreachable = 0;
    let isMissing = false;
    let reason = `No MX host of ${domain} could be reached.`;
    for (const host of mxHosts.hosts) {
      if (left.length === 0 || tries >= ADDRESSES_MAX || signal.aborted) break;
      const reachable = await resolveAllowedAddresses(deps.dns, host, deps.canConnectTo, signal);
      if (reachable.kind !== "found") {
        reason = reachable.reason;
        if (reachable.kind !== "unsure") unreachable += 1;
        if (reachable.kind === "missing") isMissing = true;
        continue;
      }
      const found = mxHosts.isSecure ? await findDane(deps.dns, reachable.secureNames, port, signal) : null;
      if (found !== null && "fault" in found) {
        reason = found.fault;
        continue;
      }
      // A certificate of usage DANE-TA may also have the name of the domain (RFC 7672 section 3.2.2).
      const dane = found && { ...found, names: [...found.names, domain] };
      const security = securityOf({ message, policy, dane, host, domain });
      if (security.verifiedBy !== "DANE" && policy?.mode === "enforce" && !policy.covers(host)) {
        reason = `The MTA-STS policy of ${domain} does not list ${host}.`;
        continue;
      }
      for (const address of reachable.addresses.slice(0, ADDRESSES_MAX - tries)) {
        if (left.length === 0 || signal.aborted || !watch.isLeaseValid()) break;
        tries += 1;
        const tried = await tryAddress({ host, address, security }, message, left, watch);
        for (const outcome of tried.outcomes) outcomes.set(outcome.recipient, outcome);
        left = tried.left;
      }
    }
    if (unreachable === mxHosts.hosts.length) return reject(reason, isMissing);
    const untried = recipients.filter((recipient) => !outcomes.has(recipient));
    return [...outcomes.values(), ...defer(untried, reason)];
  }

  /** The first address of our name in DNS, or the name itself. Found once, unless DNS does not answer. */
  let source: Promise<string> | null = null;
  async function findSource(): Promise<string> {
    const name = options.name ?? "";
    const answer = await deps.dns(name, "A");
    if (answer.kind === "answer") return answer.records.toSorted()[0] ?? name;
    if (answer.kind === "servfail" || answer.kind === "timeout") source = null;
    return name;
  }

  const transport = createTransport(
    "direct",
    null,
    async (message, recipients, watch) => {
      const addresses = new Map<string, Set<string>>();
      for (const { address, domain } of recipients)
        addresses.set(domain, (addresses.get(domain) ?? new Set()).add(address));
      const judged = await Promise.all(
        [...addresses].map(([domain, group]) => deliverTo(domain, message, [...group], watch)),
      );
      const outcomes = new Map(judged.flat().map((outcome) => [outcome.recipient, outcome]));
      return recipients.flatMap(({ address }) => outcomes.get(address) ?? []);
    },
    () => {
      for (const pool of pools.values()) pool.close();
    },
  );
  return {
    ...transport,
    async findDestination(domain, own, signal) {
      source ??= findSource();
      const [from, found] = await Promise.all([source, findMxHosts(deps.dns, domain, () => 0, signal)]);
      if (found.kind === "unsure") throw new Error(found.reason);
      const host = found.kind === "found" ? found.hosts[0] : undefined;
      return { name: nameDestination(host ?? domain, own), source: from };
    },
  };
}

function securityOf(connection: {
  message: OutgoingMessage;
  policy: StsPolicy | null;
  dane: Dane | null;
  host: string;
  domain: string;
}): Security {
  const { message, policy, dane, host, domain } = connection;
  const required = { tls: "required", verify: false } as const;
  if (dane && dane.records.length > 0)
    return {
      ...required,
      dane,
      verifiedBy: "DANE",
      demand: `${host} publishes TLSA records (DANE), so email is sent only to a server with such a certificate.`,
    };
  if (policy?.mode === "enforce")
    return {
      ...required,
      verify: true,
      verifiedBy: "MTA-STS",
      demand: `The MTA-STS policy of ${domain} requires a certificate that is valid for ${host}.`,
    };
  if (message.tls === "verified")
    return {
      ...required,
      verify: true,
      verifiedBy: "its certificate",
      demand: `The sending domain requires verified TLS: ${host} needs a certificate that is valid for its name, or TLSA records in a zone with DNSSEC.`,
    };
  if (dane) return { ...required, demand: `${host} publishes TLSA records (DANE), which require TLS.` };
  if (message.tls === "enforced") return { ...required, demand: "The sending domain requires TLS." };
  return { tls: "opportunistic", verify: false };
}

/**
 * Whether the server gave no reply about this recipient: the connection was lost, or the server closed it
 * with 421, but not because of our rate: its other hosts would count the same email.
 */
function hasNoReply({ kind, reply }: Outcome): boolean {
  return (
    kind === "deferred" &&
    (reply === null || reply.code === null || (reply.code === 421 && !isAboutRate(reply)))
  );
}

const isAboutRate = (reply: Reply | null): boolean => reply !== null && getReplyClass(reply) === "rate";

/**
 * Removes the alarm: a fault of one destination must not alert the operator, unlike a fault of the operator's
 * own relay. A reply about a login is a rejection of the message here, because direct delivery uses no login.
 */
function withoutAlarm({ alarm, ...outcome }: Outcome): Outcome {
  if (alarm !== "auth" || outcome.reply === null) return outcome;
  const isRefusal = (outcome.reply.code ?? 0) >= 500;
  return { ...outcome, kind: isRefusal ? "rejected" : outcome.kind, class: "policy" };
}
