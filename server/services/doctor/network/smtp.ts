import { performance } from "node:perf_hooks";
import { findMxHosts } from "#server/mail/dns/mx-hosts";
import { resolvePublicAddresses } from "#server/mail/transport/guarded-addresses";
import type { Breakdown } from "#server/mail/transport/judge";
import { createRelay, type Relay } from "#server/mail/transport/relay";
import { CAPTURED, CAPTURED_ADVICE } from "#server/shared/email-words";
import { openSealedRelay, probeRelay } from "../../relays/connect";
import { getSmtpUrlRelay } from "../../relays/health";
import { listSealedRelays, type SealedRelayState } from "../../relays/read";
import { checkEach } from "../each";
import { type DoctorDeps, failure, notChecked, ok, probeMsMax, type Result, warning } from "../finding";

/** Large destinations: if none of them can be reached at port 25, the network blocks it. */
const DESTINATIONS = ["gmail.com", "outlook.com", "yahoo.com"];

const DIRECT = "direct delivery";

/**
 * Each relay, that of `SMTP_URL` included: connection, TLS and login, without an email. For direct delivery:
 * port 25.
 */
export async function checkSmtp(deps: DoctorDeps): Promise<Result[]> {
  const startedMs = performance.now();
  const { transportKind, smtpUrlRelay, isDevelopment } = deps;
  // Without the database, what SMTP_URL names can still be checked.
  const relays = await listSealedRelays(deps).catch(() => null);
  const found = await checkEach(
    [
      ...(smtpUrlRelay ? [{ name: "SMTP_URL", run: () => checkSmtpUrl(deps, smtpUrlRelay) }] : []),
      ...(transportKind === "direct" ? [{ name: DIRECT, run: () => checkPort25(deps) }] : []),
      ...(relays ?? []).map((relay) => {
        const name = `${relay.name} (${relay.host})`;
        return { name, run: () => probe(name, () => openSealedRelay(deps, relay), describePause(relay)) };
      }),
    ],
    { startedMs, msMax: probeMsMax },
  );
  if (relays === null) found.push(notChecked("The relays are in the database, which did not respond."));
  if (transportKind === "capture")
    found.push(isDevelopment ? ok(CAPTURED) : warning(CAPTURED, CAPTURED_ADVICE));
  if (transportKind === "none" && relays?.length === 0)
    found.push(
      failure("Outgoing email is not configured.", "Set SMTP_URL, or add a relay: backstamp relay add."),
    );
  return found;
}

/** Why a relay is paused, and how the pause ends. */
type Pause = { cause: string; advice: string };

const SMTP_URL_PAUSE = { cause: "after faults", advice: "A running worker resumes it within a minute." };

function describePause({ pausedUntil, pauseReason, isUntested }: SealedRelayState): Pause | null {
  if (pauseReason !== null)
    return {
      cause: "by the operator",
      advice: "To use it again: backstamp relay resume.",
    };
  if (pausedUntil === null) return null;
  return {
    cause: isUntested ? "until its first test" : "after faults",
    advice: "A running worker resumes it within a minute. At once: backstamp relay test.",
  };
}

async function checkSmtpUrl({ hot }: DoctorDeps, relay: Relay): Promise<Result> {
  const state = await getSmtpUrlRelay(hot, relay).catch(() => null);
  const isPaused = state !== null && state.pausedForMs !== null;
  return probe("SMTP_URL", () => relay.clone(), isPaused ? SMTP_URL_PAUSE : null);
}

async function probe(subject: string, open: () => Relay, pause: Pause | null): Promise<Result> {
  const fault = await probeRelay(open, probeMsMax);
  if (fault) return failure(fault.reason, adviceFor(fault), subject);
  if (pause === null) return ok("The server accepts the connection and the login.", subject);
  const message = `The relay is paused ${pause.cause}, and the server accepts the connection and the login.`;
  return warning(message, pause.advice, subject);
}

function adviceFor({ alarm, reply }: Breakdown): string {
  if (alarm === "auth")
    return reply
      ? "Check user and password at the provider, and whether it restricts the sending addresses."
      : "Check the URL of the relay.";
  if (alarm === "tls")
    return "Check the server's certificate and port: smtp:// is for STARTTLS (587), smtps:// for TLS from the start (465).";
  return "Check host and port, and whether a firewall or the hosting provider blocks outgoing SMTP.";
}

/** Whether MX hosts of large destinations can be reached. Many networks block port 25. */
async function checkPort25(deps: DoctorDeps): Promise<Result> {
  const results = await Promise.all(DESTINATIONS.map((domain) => connectToMx(deps, domain)));
  const host = results.map((result) => result.host).find((name) => name !== undefined);
  if (host !== undefined) return ok(`Port 25 is open: ${host} accepts the connection.`, DIRECT);
  return failure(
    `No MX host of ${DESTINATIONS.join(", ")} could be reached at port ${deps.mxPort}. ${results[0]?.fault}`,
    "Ask the hosting provider to open outgoing port 25, or set SMTP_URL to a relay.",
    DIRECT,
  );
}

type Connection = { host: string; fault?: undefined } | { host?: undefined; fault: string };

async function connectToMx(deps: DoctorDeps, domain: string): Promise<Connection> {
  const { dns, outside, ehloName, mxPort, relayTimeouts } = deps;
  const canConnectTo = (address: string) => outside.judgeAddress(address) !== "blocked";
  const found = await findMxHosts(dns, domain, () => 0, AbortSignal.timeout(probeMsMax / 2));
  if (found.kind !== "found") return { fault: found.reason };
  const [host] = found.hosts;
  if (host === undefined) return { fault: `${domain} has no MX host.` };
  const target = {
    host,
    port: mxPort,
    tls: "opportunistic",
    verify: false,
    login: null,
    connectionsMax: 1,
  } as const;
  const open = () =>
    createRelay(target, {
      name: ehloName,
      timeouts: relayTimeouts,
      findAddresses: (wait) => resolvePublicAddresses(dns, host, canConnectTo, wait),
    });
  const fault = await probeRelay(open, probeMsMax / 2);
  return fault === null ? { host } : { fault: fault.reason };
}
