import { findMxHosts } from "#server/mail/dns/mx-hosts";
import type { Breakdown } from "#server/mail/transport/judge";
import { createRelay, type Relay } from "#server/mail/transport/relay";
import { resolvePublicAddresses } from "#server/mail/transport/smtp/guarded-addresses";
import { openSealedRelay, probeRelay } from "../relays/connect";
import { listRelays, readSealedRelay } from "../relays/read";
import { type DoctorDeps, failure, notChecked, ok, probeMsMax, type Results, warning } from "./finding";

/** Large destinations: if none of them can be reached at port 25, the network blocks it. */
const DESTINATIONS = ["gmail.com", "outlook.com", "yahoo.com"];

/** Each relay, that of `SMTP_URL` included: connection, TLS and login, without an email. For direct delivery: port 25. */
export async function checkSmtp(deps: DoctorDeps): Promise<Results> {
  const { transportKind, smtpUrlRelay } = deps;
  const results = [
    ...(smtpUrlRelay ? [probe("SMTP_URL", () => smtpUrlRelay.clone())] : []),
    ...(transportKind === "direct" ? [checkPort25(deps)] : []),
  ];
  // Without the database, what SMTP_URL names can still be checked.
  const relays = await listRelays(deps).catch(() => null);
  for (const { id, name, host, isPaused } of relays ?? []) {
    const open = async () => {
      const sealed = await readSealedRelay(deps, id);
      return probe(`${name} (${host})`, () => openSealedRelay(deps, sealed), isPaused);
    };
    results.push(open());
  }
  const found = await Promise.all(results);
  if (relays === null) found.push(notChecked("The relays are in the database, which did not respond."));
  if (transportKind === "capture")
    found.push(
      warning(
        "SMTP_URL is capture:, so email is stored and not sent.",
        "Set SMTP_URL to a relay, or to direct:.",
      ),
    );
  if (transportKind === "none" && relays?.length === 0)
    found.push(
      failure("Outgoing email is not configured.", "Set SMTP_URL, or add a relay: backstamp relay add."),
    );
  return found;
}

async function probe(subject: string, open: () => Relay, isPaused = false): Promise<Results[number]> {
  const fault = await probeRelay(open, probeMsMax);
  if (fault) return failure(fault.reason, adviceFor(fault), subject);
  if (!isPaused) return ok("The server accepts the connection and the login.", subject);
  const message =
    "The relay is paused after faults, and the server now accepts the connection and the login.";
  return warning(message, "It is resumed within a minute, or at once by: backstamp relay test.", subject);
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
async function checkPort25(deps: DoctorDeps): Promise<Results[number]> {
  const { dns, outside, ehloName, mxPort, relayTimeouts } = deps;
  const canConnectTo = (address: string) => outside.judgeAddress(address) !== "blocked";
  const faults: string[] = [];
  for (const domain of DESTINATIONS) {
    const signal = AbortSignal.timeout(probeMsMax / 2);
    const found = await findMxHosts(dns, domain, () => 0, signal);
    const host = found.kind === "found" ? found.hosts[0] : undefined;
    if (host === undefined) {
      faults.push(found.kind === "found" ? `${domain} has no MX host.` : found.reason);
      continue;
    }
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
    if (fault === null) return ok(`Port 25 is open: ${host} accepts the connection.`, "direct delivery");
    faults.push(fault.reason);
  }
  return failure(
    `No MX host of ${DESTINATIONS.join(", ")} could be reached at port ${mxPort}. ${faults[0]}`,
    "Ask the hosting provider to open outgoing port 25, or set SMTP_URL to a relay.",
    "direct delivery",
  );
}
