import type { Deps, WorkerDeps } from "#server/deps";
import { resolvePublicAddresses } from "#server/mail/transport/guarded-addresses";
import type { Breakdown } from "#server/mail/transport/judge";
import { createRelay, type Relay } from "#server/mail/transport/relay";
import { parseSmtpUrl, type SmtpTarget } from "#server/mail/transport/smtp-url";
import { SEALED } from "#server/platform/secrets/sealed-columns";
import { recordRelayFault, requeuePaused, resumeRelay } from "./health";
import { findRelay, getSealedRelay } from "./read";

/** A relay with its encrypted URL; `teamId` is null for a relay of the whole installation. */
export type SealedRelay = { id: string; teamId: string | null; url: string };
export type RelayDeps = Pick<WorkerDeps, "vault" | "dns" | "outside" | "names" | "relayTimeouts">;

/**
 * Creates the SMTP client of a relay. Each connection to a team's relay passes the egress guard and uses an
 * address that the guard checked. The operator's relays may be at any address. Throws a readable error if the
 * URL cannot be decrypted or parsed.
 */
export function openSealedRelay(
  { vault, dns, outside, names, relayTimeouts = {} }: RelayDeps,
  relay: SealedRelay,
): Relay {
  const target = openTarget(vault, relay);
  const canConnectTo = (address: string) => outside.judgeAddress(address) !== "blocked";
  const findAddresses = (signal: AbortSignal) =>
    resolvePublicAddresses(dns, target.host, canConnectTo, signal);
  return createRelay(target, {
    ...(names.mailHost !== null && { name: names.mailHost }),
    timeouts: relayTimeouts,
    ...(relay.teamId !== null && { findAddresses }),
  });
}

/**
 * Opens and closes a connection as for a message, with a client of its own. Returns null on success,
 * otherwise the fault.
 */
export async function probeRelay(open: () => Relay, deadlineMs: number): Promise<Breakdown | null> {
  let client: Relay;
  try {
    client = open();
  } catch (error) {
    return { alarm: "auth", reason: error instanceof Error ? error.message : String(error) };
  }
  try {
    return await client.probe(deadlineMs);
  } finally {
    await client.close();
  }
}

/** How a relay is connected to, with its login. Throws like `openSealedRelay`. */
export function openTarget(vault: RelayDeps["vault"], relay: SealedRelay): SmtpTarget {
  const read = parseSmtpUrl(openUrl(vault, relay));
  if (!read.ok) throw new Error(`The URL of this relay is invalid. ${read.fault}`);
  return read.target;
}

function openUrl(vault: RelayDeps["vault"], { id, url }: SealedRelay): string {
  try {
    return vault.open(url, SEALED.relayUrl.locationOf({ id }));
  } catch (cause) {
    const reason =
      "The relay's password cannot be decrypted. Check that BACKSTAMP_SECRET is the one that was set when the relay was created.";
    throw new Error(reason, { cause });
  }
}

/**
 * Connects to a relay and logs in, without sending an email. On success a new relay, or one that was paused
 * after faults, carries email. Returns the fault as a sentence, null if there is none. A fault counts like a
 * lost connection, whatever its cause, because this process may be in another network than the workers. 404
 * if there is no such relay.
 */
export async function testRelay(
  deps: Deps,
  id: string,
  deadlineMs: number,
): Promise<{ name: string; fault: string | null; isResumed: boolean }> {
  const { name, host } = await findRelay(deps, id);
  const sealed = await getSealedRelay(deps, id);
  const failure = await probeRelay(() => openSealedRelay(deps, sealed), deadlineMs);
  if (failure !== null) {
    const fault = failure.reason;
    await recordRelayFault(deps.hot, { id, host, isSmtpUrl: false }, { fault, shouldPauseNow: false });
    return { name, fault, isResumed: false };
  }
  const isResumed = await resumeRelay(deps.hot, { ...sealed, isSmtpUrl: false });
  if (isResumed) await requeuePaused(deps.hot, sealed.teamId);
  return { name, fault: null, isResumed };
}
