import { type Database, type DatabaseOptions, openDatabase } from "#db/client";
import { createWaker, listenForKeyChanges } from "#db/notify";
import type { Deps, PublicNames, RestDeps } from "#server/deps";
import { parseDomainName } from "#server/mail/address/address";
import { createQueryDns, createResolvers } from "#server/mail/dns/dns";
import { isLoopbackNameServer } from "#server/mail/dns/dnssec";
import { createConvertToText } from "#server/mail/mime/html-text";
import { createReplica, NO_REPLICA } from "#server/platform/database/replica";
import { measureDiskSpace } from "#server/platform/disk";
import { createOutside } from "#server/platform/egress/outside";
import type { Settings } from "#server/platform/env/settings";
import { createBodyBudget } from "#server/platform/limits/body-budget";
import { createLimits, type Limits } from "#server/platform/limits/limits";
import { errorFacts, type Log } from "#server/platform/log";
import { createProcessLog } from "#server/platform/process-log";
import { createKeyring, type Keyring } from "#server/platform/secrets/keyring";
import { createRecipientTokens } from "#server/platform/secrets/recipient-tokens";
import { deriveKey } from "#server/platform/secrets/secrets";
import { createSignedLinks } from "#server/platform/secrets/signed-links";
import { createVault } from "#server/platform/secrets/vault";
import { createThreads } from "#server/platform/threads";
import { createFindServedHost } from "#server/services/domains/served-hosts";
import { createAcceptor } from "#server/services/emails/accept/acceptor";
import { filesMaxBytes } from "#server/services/emails/accept/attachments";
import { createSharedReadiness } from "#server/services/health";
import { createAuthenticate } from "#server/services/keys/authenticate";
import { createKeyCache } from "#server/services/keys/cache";
import { createRequestLog, type Later, type RequestLog } from "#server/services/logs/record";
import { getInstallationFigures } from "#server/services/overview/installation-figures";
import { OperatorError } from "./launcher/operator-error";
import { createDatabaseMetrics, createMetricsText } from "./telemetry/database-metrics";
import { NO_TELEMETRY, type Telemetry } from "./telemetry/open";

/**
 * The networks that are allowed in `dev` by default, because a new endpoint runs on the machine of its
 * developer. In production they would be the internal services of the installation.
 */
const THIS_MACHINE = ["127.0.0.0/8", "::1/128"];

/** Settings with the URL of the configured or embedded database. */
export type ConnectedSettings = Settings & { databaseUrl: string };

export type BuildOptions = {
  /** Default: one JSON object per line on standard output. */
  log?: Log;
  /** `application_name` of the database connections. */
  applicationName?: string;
  /** Maximum number of connections. */
  connectionsMax?: number;
  /** Replaces NOTIFY where no worker listens. */
  wake?: () => void;
  /** Replaces a timer where the process does not run after a response. */
  later?: Later;
  /** A folder on the disk of the embedded database. Absent if the database is elsewhere. */
  findDatabaseFolder?: () => Promise<string>;
  /**
   * True where the platform can freeze the process. It then misses notifications and must not cache keys.
   * Default: false.
   */
  canFreeze?: boolean;
  /** Default: nothing is reported to monitoring systems. Its owner closes it. */
  telemetry?: Telemetry;
};

/** The dependencies of one process. `forRest` adds those of the REST API; `close` releases all of them. */
export type Built = {
  deps: Deps;
  database: Database;
  /** `tick` runs one bounded round of delivery for the cron route. */
  forRest(options: { tick: () => Promise<void> }): RestDeps;
  close(): Promise<void>;
};

/** Builds the dependencies of a Node process. Connections are opened on first use, so this does not fail. */
export function buildDeps(settings: ConnectedSettings, options: BuildOptions = {}): Built {
  const { secret, oldSecrets } = settings;
  const keyring = secret === null ? locked<Keyring>() : createKeyring([secret, ...oldSecrets]);
  const { findDatabaseFolder } = options;
  const { metrics, renderProcess, tracer } = options.telemetry ?? NO_TELEMETRY;
  const clock = () => new Date();
  const log = options.log ?? createProcessLog();
  const connections: DatabaseOptions = {
    pooled: settings.isDatabasePooled,
    ...(options.applicationName === undefined ? {} : { applicationName: options.applicationName }),
    connectionsMax: options.connectionsMax ?? settings.databaseConnectionsMax,
    ...(metrics && { onWait: (pool, waitedMs) => metrics.recordConnectionWait(pool, waitedMs / 1_000) }),
  };
  const database = openDatabase(settings.databaseUrl, connections);
  const replica = settings.replicaUrl === null ? null : openDatabase(settings.replicaUrl, connections);
  const allow = settings.egressAllow ?? (settings.mode === "dev" ? THIS_MACHINE : []);
  const outside = createOutside({ allow, nameServers: settings.dnsServers });
  const threads = createThreads();
  const notifyFailed = (error: unknown) => log.warn("due.notify_failed", errorFacts(error));
  const listenFailed = (error: unknown) => log.warn("keys.listen_failed", errorFacts(error));
  const listen = (onChange: () => void) => void listenForKeyChanges(database.hot, onChange, listenFailed);
  const keyCache = createKeyCache(clock, options.canFreeze ? undefined : listen);
  let limits: Limits | undefined;
  const openLimits = () => {
    limits ??= createLimits({
      store: settings.limitStore,
      clock: Date.now,
      log,
      onFallback: metrics?.recordLimiterFallback,
    });
    return limits;
  };
  const isTrusted = (host: string) => settings.trustsDnssec ?? isLoopbackNameServer(host);
  const deps: Deps = {
    db: database.db,
    hot: database.hot,
    replica: replica ? createReplica(replica, log) : NO_REPLICA,
    accept: createAcceptor(database.hot, { metrics, tracer }),
    transportKind: transportKindOf(settings.smtpUrl),
    outside,
    dns: createQueryDns(settings.dnsServers, undefined, isTrusted),
    resolvers: createResolvers(settings.dnsServers, undefined, isTrusted),
    threads,
    convertToText: createConvertToText({ log, threads }),
    names: namesOf(settings),
    home: { url: settings.url, sender: settings.systemFrom },
    keyring,
    vault: secret === null ? locked() : createVault(keyring),
    recipientTokens: secret === null ? locked() : createRecipientTokens(keyring, settings.url),
    links: secret === null ? locked() : createSignedLinks(keyring, settings.url),
    ...(findDatabaseFolder && { readDisk: async () => measureDiskSpace(await findDatabaseFolder()) }),
    checkLimitStore: () => openLimits().checkStore(),
    clock,
    machineClock: () => Date.now(),
    log,
    metrics,
    tracer,
    hasSharedLimits: !options.canFreeze || settings.limitStore.kind !== "in-process",
    policy: settings.policy,
    wake: options.wake ?? createWaker(database.hot, notifyFailed),
    clearKeyCache: keyCache.clear,
  };
  const bodies = createBodyBudget({ bodyMaxBytes: settings.bodyMaxBytes, filesMaxBytes });
  const getReadiness = createSharedReadiness();
  let requestLog: RequestLog | undefined;
  return {
    deps,
    database,
    forRest: ({ tick }) => {
      const renderDatabase = createDatabaseMetrics(
        () => getInstallationFigures(deps),
        (error) => log.warn("metrics.database_away", errorFacts(error)),
      );
      requestLog ??= createRequestLog(deps, options.later);
      return {
        ...deps,
        limits: openLimits(),
        findServedHost: createFindServedHost(database.hot, clock, [
          new URL(settings.url).hostname,
          settings.apiHost,
        ]),
        requestLog,
        authenticate: createAuthenticate(database.hot, clock, log, keyCache),
        cronSecret: settings.cronSecret,
        metricsToken: settings.metricsToken,
        getReadiness,
        renderMetrics: createMetricsText(renderProcess, renderDatabase),
        inboundToken: secret === null ? null : deriveKey(secret, "inbound"),
        formerInboundTokens: oldSecrets.map((old) => deriveKey(old, "inbound")),
        tick,
        bodyMaxBytes: settings.bodyMaxBytes,
        bodies,
        trustedHops: settings.trustedHops,
      };
    },
    close: async () => {
      await requestLog?.flush();
      await limits?.close();
      await threads.close();
      await outside.close();
      await Promise.all([database.close(), replica?.close()]);
    },
  };
}

/** Takes the place of what needs the secret. Each use throws an error that names the missing setting. */
const locked = <T extends object>(): T => new Proxy({} as T, { get: throwMissingSecret });

function throwMissingSecret(): never {
  throw new OperatorError("BACKSTAMP_SECRET: Required for this command. Set the secret of the installation.");
}

function namesOf({ mailHost, returnPathDomain, url }: Settings): PublicNames {
  const web = parseDomainName(new URL(url).hostname);
  return { mailHost, returnPathDomain, webHost: web.ok ? web.domain : null };
}

/** How email is sent with this `SMTP_URL`. */
export function transportKindOf(smtpUrl: string | null): Deps["transportKind"] {
  if (smtpUrl === null) return "none";
  if (smtpUrl === "capture:") return "capture";
  return smtpUrl.startsWith("direct:") ? "direct" : "relay";
}
