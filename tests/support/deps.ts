import { type Database, openDatabase } from "#db/client";
import { createWaker, listenForKeyChanges } from "#db/notify";
import type { PublicNames, RestDeps } from "#server/deps";
import { createQueryDns, createResolvers } from "#server/mail/dns/dns";
import { createConvertToText } from "#server/mail/mime/html-text";
import { NO_REPLICA } from "#server/platform/database/replica";
import { createOutside, type OutsideOptions } from "#server/platform/egress/outside";
import { readSettings } from "#server/platform/env/settings";
import { BODY_TIMEOUTS, type BodyTimeouts, createBodyBudget } from "#server/platform/limits/body-budget";
import { createLimits } from "#server/platform/limits/limits";
import { type Log, silentLog } from "#server/platform/log";
import { createKeyring } from "#server/platform/secrets/keyring";
import { createRecipientTokens } from "#server/platform/secrets/recipient-tokens";
import { deriveKey } from "#server/platform/secrets/secrets";
import { createSignedLinks } from "#server/platform/secrets/signed-links";
import { createVault } from "#server/platform/secrets/vault";
import type { Tracer } from "#server/platform/telemetry/otel";
import type { createPrometheus } from "#server/platform/telemetry/prometheus";
import { createThreads } from "#server/platform/threads";
import { createFindServedHost } from "#server/services/domains/served-hosts";
import { createAcceptor } from "#server/services/emails/accept/acceptor";
import { filesMaxBytes } from "#server/services/emails/accept/attachments";
import { createSharedReadiness } from "#server/services/health";
import { createAuthenticate } from "#server/services/keys/authenticate";
import { createKeyCache } from "#server/services/keys/cache";
import { createRequestLog } from "#server/services/logs/record";
import { getInstallationFigures } from "#server/services/overview/installation-figures";
import { createDatabaseMetrics, createMetricsText } from "#server/startup/telemetry/database-metrics";
import { connectionsMax as usualConnectionsMax } from "./database/lease";

/** The secret of the vault, for other processes that must decrypt what it encrypted. */
export const installationSecret = "the secret of an installation in a test";

/** The public URL in links. */
export const installationUrl = "https://mail.example.com";

/** Real time plus an offset that the test advances. */
export type TestClock = { now(): Date; advance(ms: number): void };

export function createClock(): TestClock {
  let aheadMs = 0;
  return {
    now: () => new Date(Date.now() + aheadMs),
    advance: (ms) => {
      aheadMs += ms;
    },
  };
}

/**
 * Moves to the start of the next minute: rate limits count per minute, so calls that exhaust one must not
 * cross its end.
 */
export function startMinute(clock: TestClock): void {
  clock.advance(60_000 - (clock.now().getTime() % 60_000));
}

export type DepsOptions = {
  clock?: TestClock;
  connectionsMax?: number;
  /** Open connections. Default: new ones, as also for the options that concern connections. */
  database?: Database | undefined;
  /** Behind a transaction pooler. Default: false. */
  pooled?: boolean;
  log?: Log;
  /** Default: `127.0.0.0/8`, which is only this machine. */
  outside?: OutsideOptions;
  /** Default: the timeouts of the product. */
  bodyPatience?: Partial<BodyTimeouts>;
  /** Default: `installationUrl`. */
  publicUrl?: string;
  /** Default: `installationSecret`. */
  secret?: string;
  formerSecrets?: string[];
  /** Whether the database has not admitted the secrets yet. Default: false. */
  areSecretsUnchecked?: boolean;
  /** Default: `NO_DNS`. */
  dnsServers?: { host: string; port: number }[];
  /** Default: no metrics of the process. */
  prometheus?: ReturnType<typeof createPrometheus>;
  /** Default: no traces. */
  tracer?: Tracer;
  /** Default: as without settings. */
  policy?: Partial<RestDeps["policy"]>;
} & Partial<
  Pick<
    RestDeps,
    | "replica"
    | "transportKind"
    | "hasSharedLimits"
    | "names"
    | "cronSecret"
    | "metricsToken"
    | "tick"
    | "bodyMaxBytes"
    | "trustedHops"
    | "convertToText"
  >
>;

/** A name server that does not exist and fails immediately, so that no test sends a query to another host. */
export const NO_DNS = [{ host: "127.0.0.1", port: 9 }];

/** The public names of an installation without configured names. */
export const NO_NAMES: PublicNames = { mailHost: null, returnPathDomain: null, webHost: null };

/** The real effects of one process on a database. Rate limits are counted in process by the test's clock. */
export function openDeps(url: string, options: DepsOptions = {}): { deps: RestDeps; close(): Promise<void> } {
  const { clock = createClock(), log = silentLog, bodyMaxBytes = 48 * 1024 * 1024 } = options;
  const { publicUrl = installationUrl } = options;
  const metrics = options.prometheus?.metrics ?? null;
  const tracer = options.tracer ?? null;
  const { secret = installationSecret, formerSecrets = [] } = options;
  const keyring = createKeyring([secret, ...formerSecrets]);
  if (!options.areSecretsUnchecked) keyring.admit([]);
  const { connectionsMax, pooled } = options;
  const hasUsualConnections = connectionsMax === undefined && pooled === undefined && metrics === null;
  const database =
    (hasUsualConnections ? options.database : undefined) ??
    openDatabase(url, {
      connectionsMax: connectionsMax ?? usualConnectionsMax,
      pooled: pooled ?? false,
      onWait: (pool, waitedMs) => metrics?.recordConnectionWait(pool, waitedMs / 1_000),
    });
  const keyCache = createKeyCache(clock.now, (onChange) => void listenForKeyChanges(database.hot, onChange));
  const limits = createLimits({
    store: { kind: "in-process" },
    clock: () => clock.now().getTime(),
    log,
  });
  const threads = createThreads();
  const outside = createOutside(options.outside ?? { allow: ["127.0.0.0/8"] });
  const deps: RestDeps = {
    db: database.db,
    hot: database.hot,
    replica: options.replica ?? NO_REPLICA,
    accept: createAcceptor(database.hot, { metrics, tracer }),
    transportKind: options.transportKind ?? "capture",
    outside,
    dns: createQueryDns(options.dnsServers ?? NO_DNS),
    resolvers: createResolvers(options.dnsServers ?? NO_DNS),
    threads,
    convertToText: options.convertToText ?? createConvertToText({ log, threads }),
    names: options.names ?? NO_NAMES,
    home: { url: publicUrl, sender: "backstamp@mail.example.com" },
    keyring,
    vault: createVault(keyring),
    recipientTokens: createRecipientTokens(keyring, publicUrl),
    links: createSignedLinks(keyring, publicUrl),
    checkLimitStore: limits.checkStore,
    clock: clock.now,
    machineClock: () => Date.now(),
    log,
    metrics,
    tracer,
    hasSharedLimits: options.hasSharedLimits ?? true,
    policy: { ...readSettings({}, "start").policy, ...options.policy },
    wake: createWaker(database.hot),
    clearKeyCache: keyCache.clear,
    limits,
    findServedHost: createFindServedHost(database.hot, clock.now, [new URL(publicUrl).hostname]),
    authenticate: createAuthenticate(database.hot, clock.now, log, keyCache),
    requestLog: createRequestLog({ hot: database.hot, log, clock: clock.now }),
    cronSecret: options.cronSecret ?? null,
    metricsToken: options.metricsToken ?? null,
    // Tests read it directly after a change.
    getReadiness: createSharedReadiness(0),
    renderMetrics: createMetricsText(
      options.prometheus?.render ?? null,
      createDatabaseMetrics(
        () => getInstallationFigures(deps),
        () => {},
      ),
    ),
    inboundToken: deriveKey(secret, "inbound"),
    formerInboundTokens: formerSecrets.map((secret) => deriveKey(secret, "inbound")),
    tick: options.tick ?? (async () => {}),
    bodyMaxBytes,
    bodies: createBodyBudget({ bodyMaxBytes, filesMaxBytes }, { ...BODY_TIMEOUTS, ...options.bodyPatience }),
    trustedHops: options.trustedHops ?? 0,
  };
  return {
    deps,
    close: async () => {
      await deps.requestLog.flush();
      await limits.close();
      await threads.close();
      await outside.close();
      await database.close();
    },
  };
}
