import type { WorkerDeps } from "#server/deps";
import { guardedAddresses } from "#server/mail/transport/guarded-addresses";
import type { Breakdown } from "#server/mail/transport/judge";
import { createRelay, type Relay } from "#server/mail/transport/relay";
import { parseSmtpUrl } from "#server/mail/transport/smtp-url";
import { placeOfRelay } from "#server/services/relays/seal";

/** What a relay is opened by. */
export type SealedRelay = { id: string; teamId: string | null; url: string };
export type RelayMeans = Pick<WorkerDeps, "vault" | "dns" | "outside" | "names" | "relayTimeouts">;

/**
 * The way to a relay. A team's own passes the guard with each connection, and goes to an address that was judged; the whole
 * installation's is the operator's, and may stand anywhere. Throws a sentence where the URL does not open.
 */
export function openRelay(
  { vault, dns, outside, names, relayTimeouts = {} }: RelayMeans,
  relay: SealedRelay,
): Relay {
  const read = parseSmtpUrl(openUrl(vault, relay));
  if (!read.ok) throw new Error(`The URL of this relay is not readable any more. ${read.fault}`);
  const { target } = read;
  return createRelay(target, {
    ...(names.mailHost === null ? {} : { name: names.mailHost }),
    timeouts: relayTimeouts,
    ...(relay.teamId === null
      ? {}
      : {
          findAddresses: (signal) =>
            guardedAddresses(
              dns,
              target.host,
              (address) => outside.judgeAddress(address) !== "blocked",
              signal,
            ),
        }),
  });
}

/** Opens a connection as for a message, and ends it. Null where that went well, else what is wrong. */
export async function probeRelay(
  means: RelayMeans,
  relay: SealedRelay,
  deadlineMs: number,
): Promise<Breakdown | null> {
  let opened: Relay;
  try {
    opened = openRelay(means, relay);
  } catch (error) {
    return { alarm: "auth", reason: error instanceof Error ? error.message : String(error) };
  }
  try {
    return await opened.probe(deadlineMs);
  } finally {
    await opened.close();
  }
}

function openUrl(vault: RelayMeans["vault"], { id, url }: SealedRelay): string {
  try {
    return vault.open(url, placeOfRelay("url", id));
  } catch (cause) {
    throw new Error("The password does not open. Is POSTHORN_SECRET the one that the relay was made under?", {
      cause,
    });
  }
}
