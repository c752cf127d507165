import type { z } from "zod";
import {
  absoluteFolder,
  address,
  certificateFiles,
  firstUser,
  flag,
  folder,
  hostName,
  idAndSecret,
  issuer,
  listenHost,
  listenPort,
  nameServers,
  networks,
  numbersByName,
  origin,
  port,
  secret,
  secrets,
  sender,
  share,
  smtpUrl,
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
const POSTGRES_URL = "Enter the URL of a PostgreSQL database: postgres://user:password@host:5432/name";

const credential = (about: string) =>
  ({ about, fallback: "off", example: "id:secret", read: idAndSecret, isSecret: true }) as const;

const seconds = wholeNumber(1, 99_999, 30);

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
  BACKSTAMP_SECRETS_OLD: {
    about:
      "Former values of BACKSTAMP_SECRET, separated by commas, or as a JSON list. They decrypt what is stored and verify links, but encrypt and sign nothing. `backstamp secret status` lists those that can be removed.",
    fallback: "none",
    example: "the-former-32-random-bytes-in-base64",
    read: secrets(32),
    isSecret: true,
  },
  BACKSTAMP_ADMIN: {
    about:
      "Email address of the first user, and a password of at least 12 characters after a colon. Used only while no user exists. If there is no password and DATABASE_URL is set, startup prints a one-time link that creates the first user. If Next runs without the launcher, opening /setup writes the link to the log.",
    fallback:
      "admin@backstamp.test, with a password that is generated in the data directory for the embedded database and for dev",
    example: "you@example.com:a long phrase that you remember",
    read: firstUser,
    isSecret: true,
  },
  DATABASE_URL: {
    about: "PostgreSQL 15 or newer.",
    fallback: "an embedded PostgreSQL in the data directory; required on Vercel",
    example: "postgres://backstamp:password@127.0.0.1:5432/backstamp",
    read: address(POSTGRES_URL, "postgres:", "postgresql:"),
    isSecret: true,
  },
  DATABASE_URL_UNPOOLED: {
    about:
      "The same database without its transaction pooler, for migrations. Set it if DATABASE_URL is that of a pooler, if necessary to the same URL: Backstamp then uses no prepared statements, LISTEN or session locks, and reads the API key from the database on each request. A pooler limits the time of a statement, and building an index of a large table takes longer.",
    fallback: "none; DATABASE_URL has no pooler, except on Vercel",
    example: "postgres://backstamp:password@127.0.0.1:5432/backstamp",
    read: address(POSTGRES_URL, "postgres:", "postgresql:"),
    isSecret: true,
  },
  DATABASE_URL_REPLICA: {
    about:
      "A streaming replica of the database, from which lists, searches and exports of emails, and lists of API requests, are read. They can be up to 10 s old. If the replica is further behind or does not respond, they are read from DATABASE_URL. A web process opens up to BACKSTAMP_DB_CONNECTIONS there.",
    fallback: "none; all is read from DATABASE_URL",
    example: "postgres://backstamp:password@10.0.0.12:5432/backstamp",
    read: address(POSTGRES_URL, "postgres:", "postgresql:"),
    isSecret: true,
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
      "How email is sent: smtp:// (relay, STARTTLS if offered), smtps:// (relay, implicit TLS), direct: (to the recipients' MX hosts; not on Vercel; direct:2525 for another port than 25), or capture: (stored, not sent).",
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
    about:
      "Domain of the return paths of email whose domain has none of its own. Bounces are sent to addresses of it.",
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
      "SMTP port at which programs submit email, with STARTTLS, after an address to listen on if it is not that of HOST. Without a certificate it must listen on a loopback address.",
    fallback: "a free port on 127.0.0.1 for dev; off for start",
    example: "127.0.0.1:2587",
    read: listenPort(2587),
  },
  BACKSTAMP_SMTPS_PORT: {
    about: "The same with TLS from the start. Requires a certificate.",
    fallback: "off",
    example: "2465",
    read: listenPort(2465),
  },
  BACKSTAMP_SMTP_TLS: {
    about:
      "Files in PEM format with the certificate chain of the SMTP ports and with its private key, separated by a comma, or one file with both. Read again when they are renewed.",
    fallback: "none",
    example:
      "/etc/letsencrypt/live/mail.example.com/fullchain.pem,/etc/letsencrypt/live/mail.example.com/privkey.pem",
    read: certificateFiles,
  },
  BACKSTAMP_TIME_LIMITS: {
    about:
      "Seconds after which a worker gives up: SMTP timeouts for connecting, each command, DATA, each block of the message, and the final reply; and the lease, after which others claim the deliveries of a worker that died or hangs. A final timeout that is too short causes duplicate emails.",
    fallback: "connect=30,command=300,data=120,block=180,final=600,lease=60",
    example: "connect=10,final=600",
    read: numbersByName({
      connect: seconds,
      command: seconds,
      data: seconds,
      block: seconds,
      final: seconds,
      lease: wholeNumber(6, 3_600, 60),
    }),
  },
  BACKSTAMP_DNS_SERVERS: {
    about:
      "Name servers as host:port, separated by commas. With two or more, a domain can move to another team immediately instead of after an hour.",
    fallback: "the system's name servers",
    example: "9.9.9.9:53",
    read: nameServers,
  },
  BACKSTAMP_DNSSEC: {
    about:
      "Whether the name servers are trusted to validate DNSSEC, which DANE requires: 1 for those of BACKSTAMP_DNS_SERVERS, if nobody can change their responses on the way here; 0 for none.",
    fallback:
      "those on a loopback address of this machine, except 127.0.0.11 of Docker and 127.0.0.54 of systemd, which only forward",
    example: "1",
    read: flag,
  },
  BACKSTAMP_EGRESS_ALLOW: {
    about:
      "Private networks that outgoing connections to webhooks and relays of teams may reach, in CIDR notation. HTTPS_PROXY and similar variables are ignored.",
    fallback: "127.0.0.0/8,::1 (this machine) for dev, none for start",
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
  BACKSTAMP_DB_CONNECTIONS: {
    about:
      "Maximum number of database connections of each process: the web process, and each worker. The server's max_connections must allow the sum.",
    fallback: "16",
    example: "32",
    read: wholeNumber(4, 500, 32),
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
  AUTH_GITHUB: credential(
    "Sign-in with GitHub: client id and secret, from an OAuth app whose callback is BACKSTAMP_URL with /api/auth/callback/github.",
  ),
  AUTH_GOOGLE: credential(
    "Sign-in with Google: client id and secret, from an OAuth client whose redirect URI is BACKSTAMP_URL with /api/auth/callback/google.",
  ),
  AUTH_OIDC_ISSUER: {
    about:
      "Sign-in with an OpenID Connect identity provider: its issuer URL, below which it publishes /.well-known/openid-configuration.",
    fallback: "off",
    example: "https://id.example.com/realms/main",
    read: issuer,
  },
  AUTH_OIDC: credential(
    "Sign-in with OpenID Connect: client id and secret, from a client whose redirect URI is BACKSTAMP_URL with /api/auth/callback/oidc. A colon in the id is written as %3A.",
  ),
  AUTH_OIDC_TRUST_EMAIL: {
    about:
      "Sign-in with OpenID Connect: set 1 to accept email addresses without the claim email_verified, as Microsoft Entra ID sends them. Only for an issuer in which people cannot choose their own address.",
    fallback: "0",
    example: "1",
    read: flag,
  },
  BACKSTAMP_BACKUP_TO: {
    about:
      "Folder in which workers store scheduled backups. Each appears there when it is complete. Each installation needs its own folder, because the oldest backups in it are deleted.",
    fallback: "none; no scheduled backups",
    example: "/var/backups/backstamp",
    read: absoluteFolder,
  },
  BACKSTAMP_BACKUP_PASSPHRASE: {
    about:
      "Passphrase of backups, at least 12 characters. With it, backups are encrypted and contain BACKSTAMP_SECRET. Without it, they are not encrypted and lack the secret. Keep it elsewhere: without it, no backup can be restored.",
    fallback: "none",
    example: "a long phrase that you remember",
    read: secret(12, "Choose a longer one."),
    isSecret: true,
  },
  BACKSTAMP_BACKUP_PLAN: {
    about:
      "Hours from one scheduled backup to the next, and the number of them to keep. Older ones are deleted after a successful backup.",
    fallback: "hours=24,keep=7",
    example: "hours=6,keep=28",
    read: numbersByName({ hours: wholeNumber(1, 720, 24), keep: wholeNumber(1, 10_000, 7) }),
  },
  BACKSTAMP_ALERT_WEBHOOK_URL: {
    about:
      "URL that receives installation alerts as signed POST requests. The console shows the secret, in the section Installation.",
    fallback: "none; alerts are in the console and in emails to the operators",
    example: "https://alerts.example.com/backstamp",
    read: address("Enter the URL of your endpoint: https://alerts.example.com/backstamp", "https:", "http:"),
    isSecret: true,
  },
  BACKSTAMP_TEAM_PAUSE: {
    about:
      "Rates of bounces and complaints of 24 hours, in percent of the recipients, above which a team is paused until an operator resumes it. Amazon SES pauses accounts at 10 and 0.5, Gmail requires less than 0.3 of complaints.",
    fallback: "none; no team is paused for its bounces or complaints",
    example: "bounces=10,complaints=0.5",
    read: numbersByName({ bounces: share(10), complaints: share(0.5) }),
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
      "HTTP port at which a worker process serves its own metrics, after an address to listen on if it is not 127.0.0.1. Workers on the same machine need different ports.",
    fallback: "none; the web process serves its metrics at PORT",
    example: "9464",
    read: listenPort(9464),
  },
} satisfies Record<string, Setting>;

/** The text of `.env.example`: each setting with its meaning and default, all commented out. */
export function renderEnvExample(): string {
  const entries = Object.entries<Setting>(SETTINGS).map(
    ([name, { about, fallback, example }]) => `# ${about}\n# Default: ${fallback}.\n# ${name}="${example}"\n`,
  );
  return `# Settings of Backstamp. Copy this file to .env and uncomment the settings that you change.\n\n${entries.join("\n")}`;
}
