import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import path from "node:path";
import { parseEnv } from "node:util";
import type { z } from "zod";
import type { LimitStore } from "../limits/limits";
import { REPLACED } from "./replaced";
import { SETTINGS, type Setting } from "./table";
import { address } from "./values";

/**
 * How Backstamp runs: started by the launcher (`dev` for development, `start` for production), or in Vercel
 * functions.
 */
export type Mode = "dev" | "start" | "vercel";

type Source = Record<string, string | undefined>;
type Name = keyof typeof SETTINGS;
type Values = { [K in Name]?: z.infer<(typeof SETTINGS)[K]["read"]> };

/** The validated configuration, with every default that depends only on the mode. */
export type Settings = ReturnType<typeof readSettings>;

type Rule = {
  name: Name;
  reason: string;
  isViolated(isSet: (name: Name) => boolean, mode: Mode, values: Values): boolean;
};

const requiredWith = (name: Name, other: Name, reason: string): Rule => ({
  name,
  reason: `Required because ${other} is set${reason}`,
  isViolated: (isSet) => isSet(other) && !isSet(name),
});

const pairRules = (one: Name, other: Name): Rule[] => [
  requiredWith(one, other, ". Set both or neither."),
  requiredWith(other, one, ". Set both or neither."),
];

const requiredOnVercel = (name: Name): Rule => ({
  name,
  reason: "Required on Vercel, where no data persists between requests.",
  isViolated: (isSet, mode) => mode === "vercel" && !isSet(name),
});

const RULES: readonly Rule[] = [
  requiredWith("DATABASE_URL", "DATABASE_URL_UNPOOLED", ", the same database without a pooler."),
  requiredWith("DATABASE_URL", "DATABASE_URL_REPLICA", ", a replica of the same database."),
  requiredOnVercel("DATABASE_URL"),
  requiredOnVercel("BACKSTAMP_SECRET"),
  {
    name: "BACKSTAMP_SECRETS_OLD",
    reason:
      "BACKSTAMP_SECRET is not set, and former secrets only decrypt what is stored and verify links. Set BACKSTAMP_SECRET.",
    isViolated: (isSet) => isSet("BACKSTAMP_SECRETS_OLD") && !isSet("BACKSTAMP_SECRET"),
  },
  {
    name: "BACKSTAMP_URL",
    reason:
      "Required with DATABASE_URL in production, because links in emails are built from it. Set the public URL, for example https://mail.example.com",
    isViolated: (isSet, mode) =>
      (mode === "vercel" || (mode === "start" && isSet("DATABASE_URL"))) && !isSet("BACKSTAMP_URL"),
  },
  {
    name: "SMTP_URL",
    reason: "direct: does not work on Vercel, which blocks outgoing port 25. Set the URL of a relay.",
    isViolated: (_isSet, mode, values) => mode === "vercel" && isDirect(values.SMTP_URL),
  },
  {
    name: "BACKSTAMP_DNSSEC",
    reason:
      "BACKSTAMP_DNS_SERVERS is not set, so it is not known whose DNSSEC validation to trust. Set it to name servers that validate, and that are reached over a protected network.",
    isViolated: (isSet, _mode, values) => values.BACKSTAMP_DNSSEC === true && !isSet("BACKSTAMP_DNS_SERVERS"),
  },
  {
    name: "BACKSTAMP_RETURN_PATH_DOMAIN",
    reason:
      "Required with BACKSTAMP_INBOUND_PORT, unless BACKSTAMP_HOSTNAME is set: bounces are sent to addresses of this domain. Set it, for example bounces.example.com, and point its MX record to this server. Or set BACKSTAMP_HOSTNAME, which the MX records of each domain's own return path name.",
    isViolated: (isSet) =>
      isSet("BACKSTAMP_INBOUND_PORT") &&
      !isSet("BACKSTAMP_RETURN_PATH_DOMAIN") &&
      !isSet("BACKSTAMP_HOSTNAME"),
  },
  {
    name: "BACKSTAMP_SMTP_PORT",
    reason:
      "Without a certificate, API keys would be sent in plain text. Set BACKSTAMP_SMTP_TLS, or listen only on this machine, for example with 127.0.0.1:2587",
    isViolated: (isSet, mode, values) =>
      isSet("BACKSTAMP_SMTP_PORT") &&
      !isSet("BACKSTAMP_SMTP_TLS") &&
      !isLoopback(values.BACKSTAMP_SMTP_PORT?.host ?? hostOf(values, mode)),
  },
  requiredWith("BACKSTAMP_SMTP_TLS", "BACKSTAMP_SMTPS_PORT", ". Set it to the files of a certificate."),
  requiredWith("BACKSTAMP_METRICS_TOKEN", "BACKSTAMP_METRICS_PORT", ". Set the token that Prometheus sends."),
  {
    name: "BACKSTAMP_BACKUP_TO",
    reason:
      "No worker runs on Vercel, so no scheduled backup would be made. Remove it, and run backstamp backup on another machine.",
    isViolated: (isSet, mode) => mode === "vercel" && isSet("BACKSTAMP_BACKUP_TO"),
  },
  ...pairRules("UPSTASH_REDIS_REST_URL", "UPSTASH_REDIS_REST_TOKEN"),
  ...pairRules("AUTH_OIDC_ISSUER", "AUTH_OIDC"),
  {
    name: "AUTH_OIDC_ISSUER",
    reason: "Required because AUTH_OIDC_TRUST_EMAIL is set.",
    isViolated: (isSet) =>
      isSet("AUTH_OIDC_TRUST_EMAIL") && !isSet("AUTH_OIDC_ISSUER") && !isSet("AUTH_OIDC"),
  },
];

/** Read by the packages of OpenTelemetry; only their form is checked here. */
const COLLECTORS = ["OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"] as const;
const COLLECTOR_URL = address("Enter the URL of a collector: http://127.0.0.1:4318", "http:", "https:");

/** `reason` contains no value, so it may be public. `value` is the rejected value unless it is a secret. */
export type SettingFault = { name: string; reason: string; value?: string };

/** All invalid settings with the reasons. The message is meant for the operator's terminal. */
export class SettingsError extends Error {
  constructor(readonly faults: readonly SettingFault[]) {
    const lines = faults.map(({ name, reason, value }) =>
      value === undefined ? `  ${name}: ${reason}` : `  ${name}: "${value}" is not valid. ${reason}`,
    );
    super(["Invalid settings:", ...lines].join("\n"));
    this.name = "SettingsError";
  }
}

/**
 * Reads the settings from an environment. An empty string counts as not set. Throws SettingsError with all
 * faults at once. No message contains the value of a secret.
 */
export function readSettings(source: Source, mode: Mode) {
  const isSet = (name: string): boolean => (source[name] ?? "").trim() !== "";
  const faults: SettingFault[] = Object.entries(REPLACED)
    .filter(([name]) => isSet(name))
    .map(([name, instead]) => ({ name, reason: `No longer a setting. ${instead}` }));
  const values: Partial<Record<Name, unknown>> = {};
  const parse = (name: string, { read, isSecret }: Pick<Setting, "read" | "isSecret">): unknown => {
    const raw = source[name];
    if (raw === undefined || !isSet(name)) return undefined;
    const result = read.safeParse(raw);
    if (result.success) return result.data;
    const reason = result.error.issues.map((issue) => issue.message).join(" ");
    faults.push({ name, reason, ...(!isSecret && { value: raw.slice(0, 80) }) });
  };
  for (const name of Object.keys(SETTINGS) as Name[]) values[name] = parse(name, SETTINGS[name]);
  for (const rule of RULES) {
    if (rule.isViolated(isSet, mode, values as Values)) faults.push({ name: rule.name, reason: rule.reason });
  }
  const collectors = COLLECTORS.map((name) => parse(name, { read: COLLECTOR_URL }));
  if (faults.length > 0) throw new SettingsError(faults);
  const areTracesExported =
    source.OTEL_SDK_DISABLED?.trim().toLowerCase() !== "true" && collectors.some((url) => url !== undefined);
  return { ...applyDefaults(values as Values, mode), areTracesExported };
}

function applyDefaults(values: Values, mode: Mode) {
  const port = values.PORT ?? 3000;
  const url = values.BACKSTAMP_URL ?? `http://localhost:${port}`;
  const isVercel = mode === "vercel";
  return {
    mode,
    port,
    host: hostOf(values, mode),
    /** Absolute path. */
    dataDir: path.resolve(/* turbopackIgnore: true */ values.BACKSTAMP_DATA_DIR ?? ".backstamp"),
    /** Scheme, host and port, without a trailing slash. */
    url,
    /**
     * The configured URL, null if not set. The CLI builds links only from this value, never from the default.
     */
    givenUrl: values.BACKSTAMP_URL ?? null,
    /** Null if not set; the launcher then generates it. */
    secret: values.BACKSTAMP_SECRET ?? null,
    /** Former secrets, the newest first. They decrypt what is stored and verify links. */
    oldSecrets: values.BACKSTAMP_SECRETS_OLD ?? [],
    adminEmail: values.BACKSTAMP_ADMIN?.email ?? "admin@backstamp.test",
    /** Null if not set; the launcher then generates it. */
    adminPassword: values.BACKSTAMP_ADMIN?.password ?? null,
    /** Null if not set; the launcher then starts an embedded PostgreSQL. */
    databaseUrl: values.DATABASE_URL ?? null,
    /** The database without its pooler, for migrations. Null: as `databaseUrl`. */
    unpooledUrl:
      values.DATABASE_URL_UNPOOLED === values.DATABASE_URL ? null : (values.DATABASE_URL_UNPOOLED ?? null),
    /** A streaming replica from which lists are read; null without one. */
    replicaUrl: values.DATABASE_URL_REPLICA ?? null,
    isDatabasePooled: isVercel || values.DATABASE_URL_UNPOOLED !== undefined,
    limitStore: limitStoreOf(values),
    /**
     * `smtp:`, `smtps:`, `direct:` (also with a port) or `capture:`. Null: email to real recipients stays
     * queued until a relay is added.
     */
    smtpUrl: values.SMTP_URL ?? (mode === "dev" ? "capture:" : null),
    hostname: values.BACKSTAMP_HOSTNAME ?? hostname(),
    /**
     * The configured host name, null if not set. DNS records for senders are built only from this value,
     * never from the default.
     */
    mailHost: values.BACKSTAMP_HOSTNAME ?? null,
    returnPathDomain: values.BACKSTAMP_RETURN_PATH_DOMAIN ?? null,
    inboundPort: values.BACKSTAMP_INBOUND_PORT ?? null,
    submission: submissionOf(values, mode),
    /** Port of the recipients' MX hosts. */
    mxPort: (isDirect(values.SMTP_URL) && Number(values.SMTP_URL?.slice("direct:".length))) || 25,
    ...timesOf(values),
    /** Empty: the system's name servers. */
    dnsServers: values.BACKSTAMP_DNS_SERVERS ?? [],
    /** Whether DNSSEC results of these name servers are trusted. Null: of those on this machine. */
    trustsDnssec: values.BACKSTAMP_DNSSEC ?? null,
    /** Null: the networks of the mode. */
    egressAllow: values.BACKSTAMP_EGRESS_ALLOW ?? null,
    trustedHops: values.BACKSTAMP_TRUSTED_HOPS ?? (isVercel ? 1 : 0),
    databaseConnectionsMax: values.BACKSTAMP_DB_CONNECTIONS ?? 16,
    bodyMaxBytes: (values.BACKSTAMP_BODY_MAX_MB ?? (isVercel ? 4 : 48)) * 1024 * 1024,
    apiHost: values.BACKSTAMP_API_HOST ?? null,
    systemFrom: values.BACKSTAMP_SYSTEM_FROM ?? `backstamp@${new URL(url).hostname}`,
    github: values.AUTH_GITHUB ?? null,
    google: values.AUTH_GOOGLE ?? null,
    oidc: oidcOf(values),
    cronSecret: values.CRON_SECRET ?? null,
    /** Null: metrics are off. */
    metricsToken: values.BACKSTAMP_METRICS_TOKEN ?? null,
    /** Where a worker process serves its metrics. Null: nowhere. */
    metricsListener: listenerOf(values.BACKSTAMP_METRICS_PORT, "127.0.0.1"),
    backup: backupOf(values),
    policy: policyOf(values),
  };
}

/** What services read of the settings, as `policy` of their dependencies. */
const policyOf = (values: Values) => ({
  /** Shares of recipients above which a team is paused; null for no limit. */
  teamPause: {
    bounceShare: values.BACKSTAMP_TEAM_PAUSE?.bounces ?? null,
    complaintShare: values.BACKSTAMP_TEAM_PAUSE?.complaints ?? null,
  },
  /** Receives the alerts of the installation; null without one. */
  alertWebhookUrl: values.BACKSTAMP_ALERT_WEBHOOK_URL ?? null,
  /** Whether the launcher receives bounces by SMTP. */
  hasInboundPort: values.BACKSTAMP_INBOUND_PORT !== undefined,
  /** Hours from one scheduled backup to the next; null if there are none. */
  backupEveryHours: values.BACKSTAMP_BACKUP_TO === undefined ? null : backupOf(values).everyHours,
});

/** Scheduled backups, and the passphrase of all. `folder` is null if there are none. */
const backupOf = (values: Values) => ({
  folder: values.BACKSTAMP_BACKUP_TO ?? null,
  passphrase: values.BACKSTAMP_BACKUP_PASSPHRASE ?? null,
  everyHours: values.BACKSTAMP_BACKUP_PLAN?.hours ?? 24,
  keep: values.BACKSTAMP_BACKUP_PLAN?.keep ?? 7,
});

const hostOf = (values: Values, mode: Mode): string =>
  values.HOST ?? (mode === "dev" ? "127.0.0.1" : "0.0.0.0");

const isLoopback = (host: string): boolean => /^(localhost|127(\.\d{1,3}){3}|::1)$/i.test(host);

/** Where a server listens. Port 0 selects a free one. */
export type Listener = { host: string; port: number };

const listenerOf = (
  given: { host: string | null; port: number } | undefined,
  host: string,
): Listener | null => (given === undefined ? null : { host: given.host ?? host, port: given.port });

/** The SMTP servers for submission. Null: off. */
function submissionOf(values: Values, mode: Mode) {
  const { BACKSTAMP_SMTP_PORT: port, BACKSTAMP_SMTPS_PORT: securePort } = values;
  const host = hostOf(values, mode);
  const isDefault = mode === "dev" && port === undefined && securePort === undefined;
  return {
    startTls: isDefault ? { host: "127.0.0.1", port: 0 } : listenerOf(port, host),
    implicitTls: listenerOf(securePort, host),
    certificateFiles: values.BACKSTAMP_SMTP_TLS ?? null,
  };
}

const isDirect = (smtpUrl: string | undefined): boolean => smtpUrl?.startsWith("direct:") ?? false;

/** The lease of a delivery, and only those SMTP timeouts that the operator configured, by step. */
function timesOf({ BACKSTAMP_TIME_LIMITS: { lease = 60, ...steps } = {} }: Values) {
  const smtpTimeLimits = Object.fromEntries(
    Object.entries(steps).map(([step, seconds]) => [`${step}Ms`, seconds * 1_000]),
  );
  return { leaseMs: lease * 1_000, smtpTimeLimits };
}

function limitStoreOf(values: Values): LimitStore {
  const { UPSTASH_REDIS_REST_URL: url, UPSTASH_REDIS_REST_TOKEN: token, REDIS_URL: redis } = values;
  if (url && token) return { kind: "upstash", url, token };
  return redis ? { kind: "redis", url: redis } : { kind: "in-process" };
}

/** Sign-in with OpenID Connect, which the button calls by its host; null if it is off. */
function oidcOf({ AUTH_OIDC: client, AUTH_OIDC_ISSUER: issuer, AUTH_OIDC_TRUST_EMAIL: trustsEmail }: Values) {
  if (client === undefined || issuer === undefined) return null;
  return { ...client, issuer, name: new URL(issuer).host, trustsEmail: trustsEmail ?? false };
}

/**
 * Adds the variables of the `.env*` files in `folder` to `target`, unless `target` already has them. Reads
 * the same files in the same order of precedence as Next, so both see the same environment.
 */
export function loadDotEnv(folder: string, mode: "development" | "production", target: Source): void {
  for (const file of [`.env.${mode}.local`, ".env.local", `.env.${mode}`, ".env"]) {
    let text: string;
    try {
      text = readFileSync(
        /* turbopackIgnore: true */ path.join(/* turbopackIgnore: true */ folder, file),
        "utf8",
      );
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") continue;
      throw error;
    }
    for (const [name, value] of Object.entries(parseEnv(text))) target[name] ??= value;
  }
}
