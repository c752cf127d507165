import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import path from "node:path";
import { parseEnv } from "node:util";
import type { z } from "zod";
import type { LimitStore } from "../limits/limits";
import type { Setting } from "./operation";
import { SETTINGS } from "./table";

/**
 * How Backstamp runs: started by the launcher (`dev` for development, `start` for production), or in Vercel
 * functions.
 */
export type Mode = "dev" | "start" | "vercel";

type Source = Record<string, string | undefined>;
type Name = keyof typeof SETTINGS;
type Values = { [K in Name]?: z.infer<(typeof SETTINGS)[K]["read"]> };

/** The validated configuration, with every default that depends only on the mode. */
export type Settings = ReturnType<typeof applyDefaults>;

const OIDC_NAMES = [
  "AUTH_OIDC_ISSUER",
  "AUTH_OIDC_ID",
  "AUTH_OIDC_SECRET",
  "AUTH_OIDC_NAME",
  "AUTH_OIDC_TRUST_EMAIL",
] as const;

type Rule = {
  name: Name;
  reason: string;
  isViolated(isSet: (name: Name) => boolean, mode: Mode, values: Values): boolean;
};

const pairRules = (...pair: [Name, Name]): Rule[] =>
  [pair, pair.toReversed() as [Name, Name]].map(([name, other]) => ({
    name,
    reason: `Required because ${other} is set. Set both or neither.`,
    isViolated: (isSet) => isSet(other) && !isSet(name),
  }));

const requiredOnVercel = (name: Name): Rule => ({
  name,
  reason: "Required on Vercel, where no data persists between requests.",
  isViolated: (isSet, mode) => mode === "vercel" && !isSet(name),
});

const RULES: readonly Rule[] = [
  {
    name: "DATABASE_URL",
    reason: "Required because DATABASE_URL_UNPOOLED is set, which only migrations use.",
    isViolated: (isSet) => isSet("DATABASE_URL_UNPOOLED") && !isSet("DATABASE_URL"),
  },
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
    isViolated: (_isSet, mode, values) => mode === "vercel" && values.SMTP_URL === "direct:",
  },
  {
    name: "BACKSTAMP_RETURN_PATH_DOMAIN",
    reason:
      "Required because BACKSTAMP_INBOUND_PORT is set: bounces are sent to addresses of this domain. Set it, for example bounces.example.com, and point its MX record to this server.",
    isViolated: (isSet) => isSet("BACKSTAMP_INBOUND_PORT") && !isSet("BACKSTAMP_RETURN_PATH_DOMAIN"),
  },
  {
    name: "BACKSTAMP_SMTP_PORT",
    reason:
      "Without a certificate, API keys would be sent in plain text. Set BACKSTAMP_SMTP_TLS_CERT and BACKSTAMP_SMTP_TLS_KEY, or listen only on this machine: BACKSTAMP_SMTP_HOST=127.0.0.1",
    isViolated: (isSet, mode, values) =>
      isSet("BACKSTAMP_SMTP_PORT") &&
      !isSet("BACKSTAMP_SMTP_TLS_CERT") &&
      !isLoopback(values.BACKSTAMP_SMTP_HOST ?? hostOf(values, mode)),
  },
  {
    name: "BACKSTAMP_SMTP_TLS_CERT",
    reason:
      "Required because BACKSTAMP_SMTPS_PORT is set. Set it and BACKSTAMP_SMTP_TLS_KEY to the files of a certificate.",
    isViolated: (isSet) => isSet("BACKSTAMP_SMTPS_PORT") && !isSet("BACKSTAMP_SMTP_TLS_CERT"),
  },
  {
    name: "BACKSTAMP_METRICS_TOKEN",
    reason: "Required because BACKSTAMP_METRICS_PORT is set. Set the token that Prometheus sends.",
    isViolated: (isSet) => isSet("BACKSTAMP_METRICS_PORT") && !isSet("BACKSTAMP_METRICS_TOKEN"),
  },
  {
    name: "BACKSTAMP_BACKUP_TO",
    reason:
      "No worker runs on Vercel, so no scheduled backup would be made. Remove it, and run backstamp backup on another machine.",
    isViolated: (isSet, mode) => mode === "vercel" && isSet("BACKSTAMP_BACKUP_TO"),
  },
  ...pairRules("BACKSTAMP_SMTP_TLS_CERT", "BACKSTAMP_SMTP_TLS_KEY"),
  ...pairRules("UPSTASH_REDIS_REST_URL", "UPSTASH_REDIS_REST_TOKEN"),
  ...pairRules("AUTH_GITHUB_ID", "AUTH_GITHUB_SECRET"),
  ...pairRules("AUTH_GOOGLE_ID", "AUTH_GOOGLE_SECRET"),
  ...(["AUTH_OIDC_ISSUER", "AUTH_OIDC_ID", "AUTH_OIDC_SECRET"] as const).map(
    (name): Rule => ({
      name,
      reason:
        "Required, because sign-in with OpenID Connect needs AUTH_OIDC_ISSUER, AUTH_OIDC_ID and AUTH_OIDC_SECRET.",
      isViolated: (isSet) => OIDC_NAMES.some(isSet) && !isSet(name),
    }),
  ),
];

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
export function readSettings(source: Source, mode: Mode): Settings {
  const isSet = (name: Name): boolean => (source[name] ?? "").trim() !== "";
  const faults: SettingFault[] = [];
  const values: Partial<Record<Name, unknown>> = {};
  for (const name of Object.keys(SETTINGS) as Name[]) {
    const raw = source[name];
    if (raw === undefined || !isSet(name)) continue;
    const { read, isSecret }: Setting = SETTINGS[name];
    const result = read.safeParse(raw);
    if (result.success) {
      values[name] = result.data;
      continue;
    }
    const reason = result.error.issues.map((issue) => issue.message).join(" ");
    faults.push({ name, reason, ...(!isSecret && { value: raw.slice(0, 80) }) });
  }
  for (const rule of RULES) {
    if (rule.isViolated(isSet, mode, values as Values)) faults.push({ name: rule.name, reason: rule.reason });
  }
  if (faults.length > 0) throw new SettingsError(faults);
  return applyDefaults(values as Values, mode);
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
    adminEmail: values.BACKSTAMP_ADMIN_EMAIL ?? "admin@backstamp.test",
    /** Null if not set; the launcher then generates it. */
    adminPassword: values.BACKSTAMP_ADMIN_PASSWORD ?? null,
    /** Null if not set; the launcher then starts an embedded PostgreSQL. */
    databaseUrl: values.DATABASE_URL ?? null,
    /** The database without its pooler, for migrations. Null: as `databaseUrl`. */
    unpooledUrl: values.DATABASE_URL_UNPOOLED ?? null,
    isDatabasePooled: values.BACKSTAMP_DB_POOLED ?? isVercel,
    limitStore: limitStoreOf(values),
    /**
     * `smtp:`, `smtps:`, `direct:` or `capture:`. Null: email to real recipients stays queued until a relay
     * is added.
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
    mxPort: values.BACKSTAMP_MX_PORT ?? 25,
    /** Milliseconds by SMTP step. Only the steps that the operator configured. */
    smtpTimeLimits: values.BACKSTAMP_SMTP_TIME_LIMITS ?? {},
    leaseMs: (values.BACKSTAMP_LEASE_SECONDS ?? 60) * 1_000,
    /** Empty: the system's name servers. */
    dnsServers: values.BACKSTAMP_DNS_SERVERS ?? [],
    /** Null: the networks of the mode. */
    egressAllow: values.BACKSTAMP_EGRESS_ALLOW ?? null,
    trustedHops: values.BACKSTAMP_TRUSTED_HOPS ?? (isVercel ? 1 : 0),
    databaseConnectionsMax: values.BACKSTAMP_DB_CONNECTIONS ?? 16,
    bodyMaxBytes: (values.BACKSTAMP_BODY_MAX_MB ?? (isVercel ? 4 : 48)) * 1024 * 1024,
    apiHost: values.BACKSTAMP_API_HOST ?? null,
    systemFrom: values.BACKSTAMP_SYSTEM_FROM ?? `backstamp@${new URL(url).hostname}`,
    github: pairOf(values.AUTH_GITHUB_ID, values.AUTH_GITHUB_SECRET),
    google: pairOf(values.AUTH_GOOGLE_ID, values.AUTH_GOOGLE_SECRET),
    oidc: oidcOf(values),
    cronSecret: values.CRON_SECRET ?? null,
    /** Null: metrics are off. */
    metricsToken: values.BACKSTAMP_METRICS_TOKEN ?? null,
    /** Where a worker process serves its metrics. Null: nowhere. */
    metricsPort: values.BACKSTAMP_METRICS_PORT ?? null,
    metricsHost: values.BACKSTAMP_METRICS_HOST ?? "127.0.0.1",
    /** The packages of OpenTelemetry read the variables themselves. */
    areTracesExported:
      values.OTEL_SDK_DISABLED !== true &&
      (values.OTEL_EXPORTER_OTLP_ENDPOINT ?? values.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT) !== undefined,
    backup: backupOf(values),
    /** Thresholds as a fraction of recipients; null disables automatic pausing. */
    alerts: {
      teamBouncePause: values.BACKSTAMP_TEAM_BOUNCE_PAUSE ?? null,
      teamComplaintPause: values.BACKSTAMP_TEAM_COMPLAINT_PAUSE ?? null,
      webhookUrl: values.BACKSTAMP_ALERT_WEBHOOK_URL ?? null,
    },
  };
}

/** Scheduled backups, and the passphrase of all. `folder` is null if there are none. */
const backupOf = (values: Values) => ({
  folder: values.BACKSTAMP_BACKUP_TO ?? null,
  passphrase: values.BACKSTAMP_BACKUP_PASSPHRASE ?? null,
  everyHours: values.BACKSTAMP_BACKUP_EVERY_HOURS ?? 24,
  keep: values.BACKSTAMP_BACKUP_KEEP ?? 7,
});

const hostOf = (values: Values, mode: Mode): string =>
  values.HOST ?? (mode === "dev" ? "127.0.0.1" : "0.0.0.0");

const isLoopback = (host: string): boolean => /^(localhost|127(\.\d{1,3}){3}|::1)$/i.test(host);

/** SMTP submission. A port is null if it is off; 0 selects a free one. */
function submissionOf(values: Values, mode: Mode) {
  const { BACKSTAMP_SMTP_PORT: port, BACKSTAMP_SMTP_TLS_CERT: cert, BACKSTAMP_SMTP_TLS_KEY: key } = values;
  const isDefault = mode === "dev" && port === undefined && values.BACKSTAMP_SMTPS_PORT === undefined;
  const host = values.BACKSTAMP_SMTP_HOST ?? hostOf(values, mode);
  return {
    port: port ?? (isDefault ? 0 : null),
    securePort: values.BACKSTAMP_SMTPS_PORT ?? null,
    host: isDefault ? "127.0.0.1" : host,
    certificateFiles: cert !== undefined && key !== undefined ? { cert, key } : null,
  };
}

function limitStoreOf(values: Values): LimitStore {
  const { UPSTASH_REDIS_REST_URL: url, UPSTASH_REDIS_REST_TOKEN: token, REDIS_URL: redis } = values;
  if (url && token) return { kind: "upstash", url, token };
  return redis ? { kind: "redis", url: redis } : { kind: "in-process" };
}

const pairOf = (id: string | undefined, secret: string | undefined): { id: string; secret: string } | null =>
  id && secret ? { id, secret } : null;

/** Sign-in with OpenID Connect; null if it is off. */
function oidcOf(values: Values) {
  const credentials = pairOf(values.AUTH_OIDC_ID, values.AUTH_OIDC_SECRET);
  if (credentials === null || values.AUTH_OIDC_ISSUER === undefined) return null;
  return {
    ...credentials,
    issuer: values.AUTH_OIDC_ISSUER,
    name: values.AUTH_OIDC_NAME ?? "single sign-on",
    trustsEmail: values.AUTH_OIDC_TRUST_EMAIL ?? false,
  };
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
