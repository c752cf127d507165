import type { Deps } from "#server/deps";
import type { Log } from "#server/log";
import { rememberDns } from "#server/mail/dns-memory";
import { createFindStsPolicy } from "#server/mail/mta-sts";
import { createDirect } from "#server/mail/transport/direct";
import { createRelay } from "#server/mail/transport/relay";
import { parseSmtpUrl } from "#server/mail/transport/smtp-url";
import type { RelayTimeouts } from "#server/mail/transport/timeouts";
import type { Transport } from "#server/mail/transport/transport";
import { createCapture } from "#server/worker/capture";
import { startWorker } from "#server/worker/loop";
import { buildDeps, type ConnectedSettings } from "./deps";

/** A delivery loop with connections of its own; `stop` drains it within 25 s. */
export type RunningWorker = {
  /** Settles when it works, or when that takes longer than anybody should wait. Never rejects. */
  started: Promise<void>;
  stop(): Promise<void>;
};

/** Starts the delivery loop in this process, sending by `SMTP_URL`. */
export async function runWorker(
  settings: ConnectedSettings,
  options: { log?: Log } = {},
): Promise<RunningWorker> {
  const built = buildDeps(settings, { ...options, applicationName: "posthorn worker" });
  const transport = openTransport(settings, built.deps);
  const worker = await startWorker(
    { ...built.deps, transport, relayTimeouts: timeoutsOf(settings) },
    { leaseMs: settings.leaseMs },
  );
  return {
    started: Promise.resolve(),
    async stop() {
      await worker.stop();
      await built.close();
    },
  };
}

/** The way out that `SMTP_URL` names; null where real recipients wait. */
export function openTransport(
  settings: Pick<ConnectedSettings, "smtpUrl" | "hostname" | "mxPort" | "smtpTimeLimits">,
  deps: Pick<Deps, "hot" | "dns" | "outside">,
): Transport | null {
  if (settings.smtpUrl === null) return null;
  if (settings.smtpUrl === "capture:") return createCapture(deps.hot);
  if (settings.smtpUrl === "direct:") return openDirect(settings, deps);
  const read = parseSmtpUrl(settings.smtpUrl);
  if (!read.ok) throw new Error(`SMTP_URL: ${read.fault}`);
  return createRelay(read.target, {
    name: settings.hostname,
    timeouts: timeoutsOf(settings),
  });
}

/** Those that the operator names; of the others the transport has its own. */
export const timeoutsOf = ({
  smtpTimeLimits,
}: Pick<ConnectedSettings, "smtpTimeLimits">): Partial<RelayTimeouts> =>
  Object.fromEntries(Object.entries(smtpTimeLimits).map(([step, ms]) => [`${step}Ms`, ms]));

/** Bytes of a policy file that are read: RFC 8461 section 3.2 suggests 64 KB at most. */
const policyBytesMax = 65_536;
const policyTimeoutMs = 30_000;

function openDirect(
  settings: Pick<ConnectedSettings, "hostname" | "mxPort" | "smtpTimeLimits">,
  { dns, outside }: Pick<Deps, "dns" | "outside">,
): Transport {
  const remembering = rememberDns(dns);
  const findStsPolicy = createFindStsPolicy(remembering, async (url) => {
    const answer = await outside.fetch(url, {
      method: "GET",
      timeoutMs: policyTimeoutMs,
      answerBytesMax: policyBytesMax,
    });
    if (answer.kind === "fault" || answer.status !== 200 || answer.isCut) return null;
    return { contentType: answer.headers["content-type"] ?? "", body: answer.body.toString("utf8") };
  });
  return createDirect(
    {
      dns: remembering,
      mayReach: (address) => outside.judgeAddress(address) !== "blocked",
      findStsPolicy,
      random: Math.random,
    },
    { name: settings.hostname, port: settings.mxPort, timeouts: timeoutsOf(settings) },
  );
}
