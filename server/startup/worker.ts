import path from "node:path";
import { createCapture } from "#server/delivery/attempt/capture";
import { startWorker } from "#server/delivery/worker";
import type { Deps } from "#server/deps";
import { parseDomainName } from "#server/mail/address/address";
import { createCachedDns } from "#server/mail/dns/cache";
import { createFindStsPolicy } from "#server/mail/dns/mta-sts";
import { createDirect } from "#server/mail/transport/direct";
import { createRelay } from "#server/mail/transport/relay";
import { parseSmtpUrl } from "#server/mail/transport/smtp-url";
import type { Transport } from "#server/mail/transport/transport";
import type { Log } from "#server/platform/log";
import { startBackupSchedule } from "./backup/schedule";
import { buildDeps, type ConnectedSettings, transportKindOf } from "./deps";
import { admitWhenReachable } from "./install/admit-secrets";
import { findClusterHome } from "./postgres/cluster-location";
import { openMetricsListener } from "./telemetry/metrics-listener";
import { openTelemetry, type Telemetry } from "./telemetry/open";

/** A delivery loop with its own connections. `stop` drains it within 25 s. */
export type RunningWorker = {
  /** Resolves when the worker is running or after a timeout. Never rejects. */
  started: Promise<void>;
  stop(): Promise<void>;
};

/**
 * Starts the delivery loop in this process, sending by `SMTP_URL`. Waits until the database is reachable.
 * `telemetry` is that of a web process with the same loop. Without it, the worker reports its own, and serves
 * its metrics if a port is configured. Throws SecretRejectedError if the secrets are not those of the
 * database, and the reason of the signal.
 */
export async function runWorker(
  settings: ConnectedSettings,
  {
    log,
    telemetry: shared,
    signal,
    isEmbedded = false,
  }: { log: Log; telemetry?: Telemetry; signal?: AbortSignal; isEmbedded?: boolean },
): Promise<RunningWorker> {
  const telemetry = shared ?? (await openTelemetry(settings, { role: "worker", log }));
  const listener = shared ? null : await openMetricsListener(settings, telemetry, log);
  const built = buildDeps(settings, {
    log,
    telemetry,
    applicationName: "backstamp worker",
    ...(isEmbedded && { findDatabaseFolder: () => findClusterHome(settings.dataDir) }),
  });
  try {
    await admitWhenReachable(built.deps, signal);
  } catch (error) {
    await listener?.close();
    await built.close();
    if (!shared) await telemetry.close();
    throw error;
  }
  const transport = openTransport(settings, built.deps);
  const worker = await startWorker(
    { ...built.deps, transport, relayTimeouts: settings.smtpTimeLimits },
    { leaseMs: settings.leaseMs },
  );
  const { folder } = settings.backup;
  const backups = folder === null ? null : startBackups(folder, settings, built.deps);
  return {
    started: Promise.resolve(),
    async stop() {
      await Promise.all([worker.stop(), backups?.stop()]);
      await listener?.close();
      await built.close();
      if (!shared) await telemetry.close();
    },
  };
}

function startBackups(folder: string, settings: ConnectedSettings, deps: Deps): { stop(): Promise<void> } {
  const { everyHours, passphrase } = settings.backup;
  if (passphrase === null)
    deps.log.warn("backup.not_encrypted", {
      reason: "Scheduled backups contain all email unencrypted and lack BACKSTAMP_SECRET.",
      setting: "BACKSTAMP_BACKUP_PASSPHRASE",
    });
  // In the folder of this file, for the source as well as for the compiled program.
  const { dir, ext } = path.parse(import.meta.filename);
  return startBackupSchedule(deps, {
    folder,
    everyHours,
    isEncrypted: passphrase !== null,
    program: path.join(dir, `admin${ext}`),
    env: {
      ...process.env,
      DATABASE_URL: settings.databaseUrl,
      BACKSTAMP_SECRET: settings.secret ?? "",
      BACKSTAMP_SECRETS_OLD: settings.oldSecrets.length > 0 ? JSON.stringify(settings.oldSecrets) : "",
      BACKSTAMP_DATA_DIR: settings.dataDir,
    },
  });
}

/** The transport of `SMTP_URL`. Null if it is not set; email to real recipients then stays queued. */
export function openTransport(
  settings: Pick<ConnectedSettings, "smtpUrl" | "hostname" | "mxPort" | "smtpTimeLimits">,
  deps: Pick<Deps, "hot" | "dns" | "outside" | "log" | "clock">,
): Transport | null {
  if (settings.smtpUrl === null) return null;
  if (settings.smtpUrl === "capture:") return createCapture(deps.hot);
  if (transportKindOf(settings.smtpUrl) === "direct") {
    if (!parseDomainName(settings.hostname).ok)
      deps.log.warn("direct.unqualified_name", { name: settings.hostname, setting: "BACKSTAMP_HOSTNAME" });
    return openDirect(settings, deps);
  }
  const read = parseSmtpUrl(settings.smtpUrl);
  if (!read.ok) throw new Error(`SMTP_URL: ${read.fault}`);
  return createRelay(read.target, {
    name: settings.hostname,
    timeouts: settings.smtpTimeLimits,
  });
}

/** Maximum size of an MTA-STS policy in bytes. RFC 8461 section 3.2 suggests 64 KB. */
const policyBytesMax = 65_536;
const policyTimeoutMs = 30_000;

function openDirect(
  settings: Pick<ConnectedSettings, "hostname" | "mxPort" | "smtpTimeLimits">,
  { dns, outside, clock }: Pick<Deps, "dns" | "outside" | "clock">,
): Transport {
  const cachedDns = createCachedDns(dns);
  const findStsPolicy = createFindStsPolicy(cachedDns, async (url) => {
    const response = await outside.fetch(url, {
      method: "GET",
      timeoutMs: policyTimeoutMs,
      responseBytesMax: policyBytesMax,
    });
    if (response.kind === "fault" || response.status !== 200 || response.isCut) return null;
    return { contentType: response.headers["content-type"] ?? "", body: response.body.toString("utf8") };
  });
  return createDirect(
    {
      dns: cachedDns,
      canConnectTo: (address) => outside.judgeAddress(address) !== "blocked",
      findStsPolicy,
      random: Math.random,
      clock,
    },
    { name: settings.hostname, port: settings.mxPort, timeouts: settings.smtpTimeLimits },
  );
}
