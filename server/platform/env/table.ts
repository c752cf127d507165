import type { z } from "zod";
import {
  address,
  backupTarget,
  emailAddress,
  file,
  flag,
  folder,
  hostName,
  listenHost,
  nameServers,
  networks,
  origin,
  port,
  secret,
  sender,
  smtpUrl,
  timeLimits,
  timeOfDay,
  wholeNumber,
} from "./values";

export type Setting = {
  /** Its meaning, for `.env.example`. */
  about: string;
  /** The default in words. */
  fallback: string;
  example: string;
  read: z.ZodType;
  /** Messages never contain its value. */
  isSecret?: true;
};

const OPENSSL = "Generate one with: openssl rand -base64 32";
const COLLECTOR_URL = "Enter the URL of a collector: http://127.0.0.1:4318";
const POSTGRES_URL = "Enter the URL of a PostgreSQL database: postgres://user:password@host:5432/name";

const credential = (about: string, example: string) =>
  ({ about, fallback: "off", example, read: secret(1, ""), isSecret: true }) as const;

/** All settings, in the order of `.env.example`. */
export const SETTINGS = {
  PORT: { about: "HTTP port.", fallback: "3000", example: "3000", read: port(3000) },
  HOST: {
    about: "Address that the HTTP server listens on.",
    fallback: "127.0.0.1 for dev, 0.0.0.0 for start",
    example: "0.0.0.0",
    read: listenHost,
  },
  BACKSTAMP_DATA_DIR: {
    about: "Directory of the embedded database and the generated secrets.",
    fallback: ".backstamp",
    example: "/srv/backstamp",
    read: folder,
  },
  BACKSTAMP_URL: {
    about: "Public URL of this installation. All links are built from it.",
    fallback: "http://localhost:$PORT; required with DATABASE_URL in production",
    example: "https://mail.example.com",
    read: origin,
  },
  BACKSTAMP_SECRET: {
    about: `Secret from which all keys are derived. ${OPENSSL}`,
    fallback: "generated in the data directory; required on Vercel",
    example: "change-me-to-32-random-bytes-in-base64",
    read: secret(32, OPENSSL),
    isSecret: true,
  },
  BACKSTAMP_ADMIN_EMAIL: {
    about: "Email address of the first user. Used only while no user exists.",
    fallback: "admin@backstamp.test",
    example: "you@example.com",
    read: emailAddress,
  },
  BACKSTAMP_ADMIN_PASSWORD: {
    about:
      "Password of the first user, at least 12 characters. Used only while no user exists. If it is not set and DATABASE_URL is set, startup prints a one-time link that creates the first user. If Next runs without the launcher, opening /setup writes the link to the log.",
    fallback: "generated in the data directory for the embedded database and for dev",
    example: "a long phrase that you remember",
    read: secret(12, "Choose a longer one."),
    isSecret: true,
  },
  DATABASE_URL: {
    about: "PostgreSQL 15 or newer.",
    fallback: "an embedded PostgreSQL in the data directory; required on Vercel",
    example: "postgres://backstamp:password@127.0.0.1:5432/backstamp",
    read: address(POSTGRES_URL, "postgres:", "postgresql:"),
    isSecret: true,
  },
  BACKSTAMP_DB_POOLED: {
    about:
      "Set to 1 behind a transaction pooler. Backstamp then uses no prepared statements, LISTEN or session locks, and reads the API key from the database on each request.",
    fallback: "0; 1 on Vercel",
    example: "1",
    read: flag,
  },
  UPSTASH_REDIS_REST_URL: {
    about: "Store for rate limits: REST URL of an Upstash database. Takes precedence over REDIS_URL.",
    fallback: "rate limits are counted in each process",
    example: "https://example.upstash.io",
    read: address("Enter the REST URL that Upstash shows: https://….upstash.io", "https:", "http:"),
  },
  UPSTASH_REDIS_REST_TOKEN: {
    about: "Token of the Upstash database.",
    fallback: "none",
    example: "token",
    read: secret(1, ""),
    isSecret: true,
  },
  REDIS_URL: {
    about: "Store for rate limits: URL of a Redis server, over TCP.",
    fallback: "rate limits are counted in each process",
    example: "redis://127.0.0.1:6379",
    read: address("Enter redis://host:6379, or rediss:// for TLS.", "redis:", "rediss:"),
    isSecret: true,
  },
  SMTP_URL: {
    about:
      "How email is sent: smtp:// (relay, STARTTLS if offered), smtps:// (relay, implicit TLS), direct: (to the recipients' MX hosts; not on Vercel), or capture: (stored, not sent).",
    fallback: "capture: for dev; none for start, and email to real recipients stays queued",
    example: "smtp://user:password@smtp.example.com:587",
    read: smtpUrl,
    isSecret: true,
  },
  BACKSTAMP_HOSTNAME: {
    about:
      "Fully qualified host name that this server sends in EHLO. With direct: it should resolve to this server.",
    fallback: "the machine's host name; with direct:, a warning is logged if it is not fully qualified",
    example: "mail.example.com",
    read: hostName("mail.example.com"),
  },
  BACKSTAMP_RETURN_PATH_DOMAIN: {
    about: "Domain of the return paths. Bounces are sent to addresses of this domain.",
    fallback: "none",
    example: "bounces.example.com",
    read: hostName("bounces.example.com"),
  },
  BACKSTAMP_INBOUND_PORT: {
    about: "SMTP port that receives bounces.",
    fallback: "off",
    example: "2525",
    read: port(2525),
  },
  BACKSTAMP_SMTP_PORT: {
    about:
      "SMTP port at which programs submit email, with STARTTLS. Without a certificate it must listen on a loopback address.",
    fallback: "a free port on 127.0.0.1 for dev; off for start",
    example: "2587",
    read: port(2587),
  },
  BACKSTAMP_SMTPS_PORT: {
    about: "SMTP port at which programs submit email, with TLS from the start. Requires a certificate.",
    fallback: "off",
    example: "2465",
    read: port(2465),
  },
  BACKSTAMP_SMTP_HOST: {
    about: "Address that the SMTP ports for submission listen on.",
    fallback: "the value of HOST",
    example: "0.0.0.0",
    read: listenHost,
  },
  BACKSTAMP_SMTP_TLS_CERT: {
    about: "File with the certificate chain of the SMTP ports, in PEM format. Read again when it is renewed.",
    fallback: "none",
    example: "/etc/letsencrypt/live/mail.example.com/fullchain.pem",
    read: file,
  },
  BACKSTAMP_SMTP_TLS_KEY: {
    about: "File with the private key of the certificate, in PEM format.",
    fallback: "none",
    example: "/etc/letsencrypt/live/mail.example.com/privkey.pem",
    read: file,
  },
  BACKSTAMP_SMTP_TIME_LIMITS: {
    about:
      "SMTP timeouts in seconds: connecting, each command, DATA, each block of the message, and the final reply. A final timeout that is too short causes duplicate emails.",
    fallback: "connect=30,command=300,data=120,block=180,final=600",
    example: "connect=10,final=600",
    read: timeLimits("connect", "command", "data", "block", "final"),
  },
  BACKSTAMP_LEASE_SECONDS: {
    about:
      "Lease of a claimed delivery in seconds. When a worker dies or hangs, others claim its deliveries after this time.",
    fallback: "60",
    example: "60",
    read: wholeNumber(6, 3_600, 60),
  },
  BACKSTAMP_MX_PORT: {
    about: "Port of the recipients' MX hosts.",
    fallback: "25",
    example: "25",
    read: port(25),
  },
  BACKSTAMP_DNS_SERVERS: {
    about:
      "Name servers as host:port, separated by commas. With two or more, a domain can move to another team immediately instead of after an hour.",
    fallback: "the system's name servers",
    example: "9.9.9.9:53",
    read: nameServers,
  },
  BACKSTAMP_EGRESS_ALLOW: {
    about:
      "Private networks that outgoing connections to webhooks and relays of teams may reach, in CIDR notation. HTTPS_PROXY and similar variables are ignored.",
    fallback: "none",
    example: "10.0.0.0/8",
    read: networks,
  },
  BACKSTAMP_TRUSTED_HOPS: {
    about:
      "Number of trusted reverse proxies that append to X-Forwarded-For. If a proxy is not counted, all visitors behind it share one address and its rate limits.",
    fallback: "0; 1 on Vercel",
    example: "1",
    read: wholeNumber(0, 16, 1),
  },
  BACKSTAMP_BODY_MAX_MB: {
    about:
      "Largest request body in MB. Large requests may use twice this amount of memory in total; one team or client address may use half of that.",
    fallback: "48; 4 on Vercel",
    example: "48",
    read: wholeNumber(1, 512, 48),
  },
  BACKSTAMP_API_HOST: {
    about: "Host name at whose root the REST API also responds.",
    fallback: "none",
    example: "api.example.com",
    read: hostName("api.example.com"),
  },
  BACKSTAMP_SYSTEM_FROM: {
    about:
      "Sender of system emails: sign-in links, password reset links and invitations. Its domain must be one that your relay may send from.",
    fallback:
      "backstamp@ the host of BACKSTAMP_URL; required for system emails if that host is localhost or an IP address",
    example: "Backstamp <backstamp@example.com>",
    read: sender,
  },
  AUTH_GITHUB_ID: credential(
    "Sign-in with GitHub: client id, from an OAuth app whose callback is BACKSTAMP_URL with /api/auth/callback/github.",
    "id",
  ),
  AUTH_GITHUB_SECRET: credential("Sign-in with GitHub: client secret.", "secret"),
  AUTH_GOOGLE_ID: credential(
    "Sign-in with Google: client id, from an OAuth client whose redirect URI is BACKSTAMP_URL with /api/auth/callback/google.",
    "id",
  ),
  AUTH_GOOGLE_SECRET: credential("Sign-in with Google: client secret.", "secret"),
  BACKSTAMP_BACKUP_TO: {
    about:
      "Where workers store scheduled backups: a folder, or s3://bucket/prefix for an S3-compatible store. Each backup appears there when it is complete.",
    fallback: "none; no scheduled backups",
    example: "/var/backups/backstamp",
    read: backupTarget,
  },
  BACKSTAMP_BACKUP_PASSPHRASE: {
    about:
      "Passphrase of backups, at least 12 characters. With it, backups are encrypted and contain BACKSTAMP_SECRET. Without it, they are not encrypted and lack the secret. Keep it elsewhere: without it, no backup can be restored.",
    fallback: "none",
    example: "a long phrase that you remember",
    read: secret(12, "Choose a longer one."),
    isSecret: true,
  },
  BACKSTAMP_BACKUP_PASSPHRASE_FILE: {
    about: "File with the passphrase of backups. Takes precedence over BACKSTAMP_BACKUP_PASSPHRASE.",
    fallback: "none",
    example: "/etc/backstamp-backup-passphrase",
    read: file,
  },
  BACKSTAMP_BACKUP_EVERY_HOURS: {
    about: "Hours from one scheduled backup to the next.",
    fallback: "24",
    example: "6",
    read: wholeNumber(1, 720, 24),
  },
  BACKSTAMP_BACKUP_AT: {
    about: "Time of day (UTC) of a scheduled backup. The others follow every BACKSTAMP_BACKUP_EVERY_HOURS.",
    fallback: "03:00",
    example: "03:00",
    read: timeOfDay,
  },
  BACKSTAMP_BACKUP_KEEP: {
    about: "Number of scheduled backups to keep. Older ones are deleted after a successful backup.",
    fallback: "7",
    example: "7",
    read: wholeNumber(1, 10_000, 7),
  },
  BACKSTAMP_BACKUP_S3_ENDPOINT: {
    about: "URL of the S3-compatible store.",
    fallback: "https://s3.REGION.amazonaws.com",
    example: "https://s3.eu-central-1.amazonaws.com",
    read: address("Enter the URL of the store: https://s3.example.com", "https:", "http:"),
  },
  BACKSTAMP_BACKUP_S3_REGION: {
    about: "Region of the bucket.",
    fallback: "us-east-1",
    example: "eu-central-1",
    read: secret(1, ""),
  },
  BACKSTAMP_BACKUP_S3_KEY_ID: {
    about: "Id of the access key of the S3-compatible store.",
    fallback: "none; required with an s3:// URL",
    example: "id",
    read: secret(1, ""),
    isSecret: true,
  },
  BACKSTAMP_BACKUP_S3_SECRET: {
    about: "Secret of the access key of the S3-compatible store.",
    fallback: "none; required with an s3:// URL",
    example: "secret",
    read: secret(1, ""),
    isSecret: true,
  },
  CRON_SECRET: {
    about: "Bearer token with which the platform's scheduler calls /api/cron/tick.",
    fallback: "none; the route is disabled",
    example: "change-me-to-something-random",
    read: secret(16, OPENSSL),
    isSecret: true,
  },
  BACKSTAMP_METRICS_TOKEN: {
    about: "Bearer token with which Prometheus reads /api/metrics.",
    fallback: "none; metrics are off",
    example: "change-me-to-something-random",
    read: secret(16, OPENSSL),
    isSecret: true,
  },
  BACKSTAMP_METRICS_PORT: {
    about:
      "HTTP port at which a worker process serves its own metrics. Workers on the same machine need different ports.",
    fallback: "none; the web process serves its metrics at PORT",
    example: "9464",
    read: port(9464),
  },
  BACKSTAMP_METRICS_HOST: {
    about: "Address that the metrics port of a worker listens on.",
    fallback: "127.0.0.1",
    example: "0.0.0.0",
    read: listenHost,
  },
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    about:
      "Turns on traces: URL of an OpenTelemetry collector for OTLP over HTTP (protobuf). The other standard variables apply, too: OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES, OTEL_TRACES_SAMPLER, OTEL_TRACES_SAMPLER_ARG, OTEL_EXPORTER_OTLP_HEADERS, OTEL_BSP_….",
    fallback: "none; traces are off",
    example: "http://127.0.0.1:4318",
    read: address(COLLECTOR_URL, "http:", "https:"),
  },
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: {
    about: "The same with the whole URL for traces, to which no path is appended.",
    fallback: "OTEL_EXPORTER_OTLP_ENDPOINT with /v1/traces",
    example: "http://127.0.0.1:4318/v1/traces",
    read: address(COLLECTOR_URL, "http:", "https:"),
  },
  OTEL_SDK_DISABLED: {
    about: "Set to true to turn traces off without removing the endpoint.",
    fallback: "false",
    example: "true",
    read: flag,
  },
} satisfies Record<string, Setting>;

/** The text of `.env.example`: each setting with its meaning and default, all commented out. */
export function renderEnvExample(): string {
  const entries = Object.entries<Setting>(SETTINGS).map(
    ([name, { about, fallback, example }]) => `# ${about}\n# Default: ${fallback}.\n# ${name}="${example}"\n`,
  );
  return `# Settings of Backstamp. Copy this file to .env and uncomment the settings that you change.\n\n${entries.join("\n")}`;
}
