import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import path from "node:path";
import { parseEnv } from "node:util";
import type { z } from "zod";
import type { LimitStore } from "#server/limits/limits";
import { SETTINGS, type Setting } from "./env-table";

/** How Posthorn runs: by the launcher for a developer or in production, or inside Vercel's functions. */
export type Mode = "dev" | "start" | "vercel";

type Source = Record<string, string | undefined>;
type Name = keyof typeof SETTINGS;
type Values = { [K in Name]?: z.infer<(typeof SETTINGS)[K]["read"]> };

/** What Posthorn was told, checked, with every default filled in that needs nothing but the mode. */
export type Settings = ReturnType<typeof settle>;

type Rule = {
  name: Name;
  reason: string;
  isBroken(isGiven: (name: Name) => boolean, mode: Mode, values: Values): boolean;
};

const together = (name: Name, other: Name): Rule => ({
  name,
  reason: `It is missing although ${other} is given. Give both or neither.`,
  isBroken: (isGiven) => isGiven(other) && !isGiven(name),
});

const onVercel = (name: Name): Rule => ({
  name,
  reason: "It is required on Vercel, where nothing is kept between requests.",
  isBroken: (isGiven, mode) => mode === "vercel" && !isGiven(name),
});

const RULES: readonly Rule[] = [
  onVercel("DATABASE_URL"),
  onVercel("POSTHORN_SECRET"),
  {
    name: "POSTHORN_URL",
    reason:
      "It is required with DATABASE_URL in production: links in mails are built from it. Give the public address, for example https://mail.example.com",
    isBroken: (isGiven, mode) =>
      (mode === "vercel" || (mode === "start" && isGiven("DATABASE_URL"))) && !isGiven("POSTHORN_URL"),
  },
  {
    name: "SMTP_URL",
    reason: "direct: does not work on Vercel, from where port 25 is closed. Give the URL of a relay.",
    isBroken: (_isGiven, mode, values) => mode === "vercel" && values.SMTP_URL === "direct:",
  },
  {
    name: "POSTHORN_RETURN_PATH_DOMAIN",
    reason:
      "It is missing although POSTHORN_INBOUND_PORT is given: what comes back comes to addresses of that domain. Give it, for example bounces.example.com, with an MX record that names this server.",
    isBroken: (isGiven) => isGiven("POSTHORN_INBOUND_PORT") && !isGiven("POSTHORN_RETURN_PATH_DOMAIN"),
  },
  together("UPSTASH_REDIS_REST_URL", "UPSTASH_REDIS_REST_TOKEN"),
  together("UPSTASH_REDIS_REST_TOKEN", "UPSTASH_REDIS_REST_URL"),
  together("AUTH_GITHUB_ID", "AUTH_GITHUB_SECRET"),
  together("AUTH_GITHUB_SECRET", "AUTH_GITHUB_ID"),
  together("AUTH_GOOGLE_ID", "AUTH_GOOGLE_SECRET"),
  together("AUTH_GOOGLE_SECRET", "AUTH_GOOGLE_ID"),
];

/** All that is wrong with the settings, by name; the message is made for the operator's terminal. */
export class SettingsError extends Error {
  constructor(readonly faults: readonly { name: string; reason: string }[]) {
    super(
      ["These settings are wrong:", ...faults.map(({ name, reason }) => `  ${name}: ${reason}`)].join("\n"),
    );
    this.name = "SettingsError";
  }
}

/**
 * Reads the settings out of an environment. An empty string counts as absent. Throws SettingsError with all faults at
 * once; a secret's value is in none of them.
 */
export function readSettings(source: Source, mode: Mode): Settings {
  const isGiven = (name: Name): boolean => (source[name] ?? "").trim() !== "";
  const faults: { name: string; reason: string }[] = [];
  const values: Partial<Record<Name, unknown>> = {};
  for (const name of Object.keys(SETTINGS) as Name[]) {
    const raw = source[name];
    if (raw === undefined || !isGiven(name)) continue;
    const { read, isSecret }: Setting = SETTINGS[name];
    const result = read.safeParse(raw);
    if (result.success) {
      values[name] = result.data;
      continue;
    }
    const reason = result.error.issues.map((issue) => issue.message).join(" ");
    faults.push({ name, reason: isSecret ? reason : `"${raw.slice(0, 80)}" will not do. ${reason}` });
  }
  for (const rule of RULES) {
    if (rule.isBroken(isGiven, mode, values as Values)) faults.push({ name: rule.name, reason: rule.reason });
  }
  if (faults.length > 0) throw new SettingsError(faults);
  return settle(values as Values, mode);
}

function settle(values: Values, mode: Mode) {
  const port = values.PORT ?? 3000;
  const url = values.POSTHORN_URL ?? `http://localhost:${port}`;
  const isVercel = mode === "vercel";
  return {
    mode,
    port,
    host: values.HOST ?? (mode === "dev" ? "127.0.0.1" : "0.0.0.0"),
    /** Absolute. */
    dataDir: path.resolve(/* turbopackIgnore: true */ values.POSTHORN_DATA_DIR ?? ".posthorn"),
    /** Scheme, host and port, without a slash at the end. */
    url,
    /** Null: the launcher generates it. */
    secret: values.POSTHORN_SECRET ?? null,
    adminEmail: values.POSTHORN_ADMIN_EMAIL ?? "admin@posthorn.test",
    /** Null: the launcher generates it. */
    adminPassword: values.POSTHORN_ADMIN_PASSWORD ?? null,
    /** Null: the launcher starts an embedded one. */
    databaseUrl: values.DATABASE_URL ?? null,
    isDatabasePooled: values.POSTHORN_DB_POOLED ?? isVercel,
    limitStore: limitStoreOf(values),
    /** `smtp:`, `smtps:`, `direct:` or `capture:`; null where real recipients wait. */
    smtpUrl: values.SMTP_URL ?? (mode === "dev" ? "capture:" : null),
    hostname: values.POSTHORN_HOSTNAME ?? hostname(),
    /** The same as far as it was given: what strangers are to publish in DNS is not guessed. */
    mailHost: values.POSTHORN_HOSTNAME ?? null,
    returnPathDomain: values.POSTHORN_RETURN_PATH_DOMAIN ?? null,
    inboundPort: values.POSTHORN_INBOUND_PORT ?? null,
    mxPort: values.POSTHORN_MX_PORT ?? 25,
    /** Milliseconds by step, where the operator names them. */
    smtpTimeLimits: values.POSTHORN_SMTP_TIME_LIMITS ?? {},
    leaseMs: (values.POSTHORN_LEASE_SECONDS ?? 60) * 1_000,
    /** Empty: those of the system. */
    dnsServers: values.POSTHORN_DNS_SERVERS ?? [],
    egressAllow: values.POSTHORN_EGRESS_ALLOW ?? [],
    trustedHops: values.POSTHORN_TRUSTED_HOPS ?? (isVercel ? 1 : 0),
    bodyMaxBytes: (values.POSTHORN_BODY_MAX_MB ?? (isVercel ? 4 : 48)) * 1024 * 1024,
    apiHost: values.POSTHORN_API_HOST ?? null,
    systemFrom: values.POSTHORN_SYSTEM_FROM ?? `posthorn@${new URL(url).hostname}`,
    github: pairOf(values.AUTH_GITHUB_ID, values.AUTH_GITHUB_SECRET),
    google: pairOf(values.AUTH_GOOGLE_ID, values.AUTH_GOOGLE_SECRET),
    cronSecret: values.CRON_SECRET ?? null,
    metricsToken: values.POSTHORN_METRICS_TOKEN ?? null,
  };
}

function limitStoreOf(values: Values): LimitStore {
  const { UPSTASH_REDIS_REST_URL: url, UPSTASH_REDIS_REST_TOKEN: token, REDIS_URL: redis } = values;
  if (url && token) return { kind: "upstash", url, token };
  return redis ? { kind: "redis", url: redis } : { kind: "in-process" };
}

const pairOf = (id: string | undefined, secret: string | undefined): { id: string; secret: string } | null =>
  id && secret ? { id, secret } : null;

/**
 * Adds to `target` what the files `.env*` in `folder` say, where it says nothing itself. The same files as Next reads,
 * the first that names a setting winning, so that both see one environment.
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
