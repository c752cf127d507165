import type { z } from "zod";
import {
  address,
  emailAddress,
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
  wholeNumber,
} from "./env-values";

export type Setting = {
  /** What it means, for `.env.example`. */
  about: string;
  /** What holds when it is absent, in words. */
  fallback: string;
  example: string;
  read: z.ZodType;
  /** Its value is never repeated in a message. */
  isSecret?: true;
};

const OPENSSL = "Make one with: openssl rand -base64 32";
const POSTGRES_URL = "Give the address of a PostgreSQL database: postgres://user:password@host:5432/name";

const credential = (about: string, example: string) =>
  ({ about, fallback: "off", example, read: secret(1, ""), isSecret: true }) as const;

/** Every setting there is, in the order of `.env.example`. */
export const SETTINGS = {
  PORT: { about: "Port of HTTP.", fallback: "3000", example: "3000", read: port(3000) },
  HOST: {
    about: "Address that HTTP listens on.",
    fallback: "127.0.0.1 for dev, 0.0.0.0 for start",
    example: "0.0.0.0",
    read: listenHost,
  },
  POSTHORN_DATA_DIR: {
    about: "Folder of the embedded database and the generated secrets.",
    fallback: ".posthorn",
    example: "/srv/posthorn",
    read: folder,
  },
  POSTHORN_URL: {
    about: "Public address of this installation; links are built from it alone.",
    fallback: "http://localhost:$PORT; required with DATABASE_URL in production",
    example: "https://mail.example.com",
    read: origin,
  },
  POSTHORN_SECRET: {
    about: `Root of all derived keys. ${OPENSSL}`,
    fallback: "generated into the data folder; required on Vercel",
    example: "change-me-to-32-random-bytes-in-base64",
    read: secret(32, OPENSSL),
    isSecret: true,
  },
  POSTHORN_ADMIN_EMAIL: {
    about: "Address with which the first user signs in. Only a start without any user reads it.",
    fallback: "admin@posthorn.test",
    example: "you@example.com",
    read: emailAddress,
  },
  POSTHORN_ADMIN_PASSWORD: {
    about:
      "Password of the first user, at least 12 characters. Only a start without any user reads it. Where it is absent and DATABASE_URL is given, start prints a link that makes the first user, once; where Next runs alone, the page /setup writes it to the log.",
    fallback: "generated into the data folder for the embedded database and for dev",
    example: "a long phrase that you remember",
    read: secret(12, "Take a longer one."),
    isSecret: true,
  },
  DATABASE_URL: {
    about: "PostgreSQL 15 or newer.",
    fallback: "an embedded PostgreSQL in the data folder; required on Vercel",
    example: "postgres://posthorn:password@127.0.0.1:5432/posthorn",
    read: address(POSTGRES_URL, "postgres:", "postgresql:"),
    isSecret: true,
  },
  POSTHORN_DB_POOLED: {
    about: "1 behind a transaction pooler: no prepared statements, LISTEN or session locks.",
    fallback: "0; 1 on Vercel",
    example: "1",
    read: flag,
  },
  UPSTASH_REDIS_REST_URL: {
    about: "Where rate limits are counted: Upstash over REST, with its token. Wins over REDIS_URL.",
    fallback: "counted in each process",
    example: "https://example.upstash.io",
    read: address("Give the REST address that Upstash shows: https://….upstash.io", "https:", "http:"),
  },
  UPSTASH_REDIS_REST_TOKEN: {
    about: "Token of the Upstash database.",
    fallback: "none",
    example: "token",
    read: secret(1, ""),
    isSecret: true,
  },
  REDIS_URL: {
    about: "Where rate limits are counted: Redis over TCP.",
    fallback: "counted in each process",
    example: "redis://127.0.0.1:6379",
    read: address("Give redis://host:6379, or rediss:// for TLS.", "redis:", "rediss:"),
    isSecret: true,
  },
  SMTP_URL: {
    about:
      "Where mail goes: smtp:// (STARTTLS where offered), smtps:// (TLS from the start), direct: (straight to the recipients' servers, not on Vercel), or capture: (kept, sent to nobody).",
    fallback: "capture: for dev; none for start, where real recipients wait",
    example: "smtp://user:password@smtp.example.com:587",
    read: smtpUrl,
    isSecret: true,
  },
  POSTHORN_HOSTNAME: {
    about: "Name that this server gives of itself to mail servers.",
    fallback: "the name of the machine",
    example: "mail.example.com",
    read: hostName("mail.example.com"),
  },
  POSTHORN_RETURN_PATH_DOMAIN: {
    about: "Domain of the return paths, so that bounces come back here.",
    fallback: "none",
    example: "bounces.example.com",
    read: hostName("bounces.example.com"),
  },
  POSTHORN_INBOUND_PORT: {
    about: "Port on which bounces are received.",
    fallback: "off",
    example: "2525",
    read: port(2525),
  },
  POSTHORN_SMTP_TIME_LIMITS: {
    about:
      "How long a mail server may take for a step, in seconds: to connect, for a command, for DATA, for a piece of the message, and for its word on the whole. Too short makes copies.",
    fallback: "connect=30,command=300,data=120,block=180,final=600",
    example: "connect=10,final=600",
    read: timeLimits("connect", "command", "data", "block", "final"),
  },
  POSTHORN_LEASE_SECONDS: {
    about: "How long a worker that died or stands still keeps the mail that it had in hand.",
    fallback: "60",
    example: "60",
    read: wholeNumber(6, 3_600, 60),
  },
  POSTHORN_MX_PORT: {
    about: "Port of the recipients' mail servers.",
    fallback: "25",
    example: "25",
    read: port(25),
  },
  POSTHORN_DNS_SERVERS: {
    about: "Name servers, as host:port by commas.",
    fallback: "those of the system",
    example: "9.9.9.9:53",
    read: nameServers,
  },
  POSTHORN_EGRESS_ALLOW: {
    about:
      "Networks besides the public Internet that outgoing connections of teams may reach, in CIDR form. HTTPS_PROXY and its like are never heeded.",
    fallback: "none",
    example: "10.0.0.0/8",
    read: networks,
  },
  POSTHORN_TRUSTED_HOPS: {
    about:
      "Proxies in front whose X-Forwarded-For is believed. Behind a proxy that is not counted here all visitors share one address, and its limits.",
    fallback: "0; 1 on Vercel",
    example: "1",
    read: wholeNumber(0, 16, 1),
  },
  POSTHORN_BODY_MAX_MB: {
    about: "Largest request body in MB.",
    fallback: "48; 4 on Vercel",
    example: "48",
    read: wholeNumber(1, 512, 48),
  },
  POSTHORN_API_HOST: {
    about: "Host name at whose root the REST surface answers too.",
    fallback: "none",
    example: "api.example.com",
    read: hostName("api.example.com"),
  },
  POSTHORN_SYSTEM_FROM: {
    about:
      "Sender of Posthorn's own mail: sign-in links, links for another password, and invitations. Give one whose domain your way out may send for.",
    fallback: "posthorn@ the host of POSTHORN_URL",
    example: "Posthorn <posthorn@example.com>",
    read: sender,
  },
  AUTH_GITHUB_ID: credential(
    "Sign-in with GitHub: client id, from an OAuth app whose callback is POSTHORN_URL with /api/auth/callback/github.",
    "id",
  ),
  AUTH_GITHUB_SECRET: credential("Sign-in with GitHub: client secret.", "secret"),
  AUTH_GOOGLE_ID: credential(
    "Sign-in with Google: client id, from an OAuth client whose redirect URI is POSTHORN_URL with /api/auth/callback/google.",
    "id",
  ),
  AUTH_GOOGLE_SECRET: credential("Sign-in with Google: client secret.", "secret"),
  CRON_SECRET: {
    about: "Opens /api/cron/tick to the platform's scheduler.",
    fallback: "closed",
    example: "change-me-to-something-random",
    read: secret(16, OPENSSL),
    isSecret: true,
  },
  POSTHORN_METRICS_TOKEN: {
    about: "Opens /api/metrics.",
    fallback: "closed",
    example: "change-me-to-something-random",
    read: secret(16, OPENSSL),
    isSecret: true,
  },
} satisfies Record<string, Setting>;

/** The text of `.env.example`: every setting with its meaning and default, all commented out. */
export function renderEnvExample(): string {
  const entries = Object.entries<Setting>(SETTINGS).map(
    ([name, { about, fallback, example }]) => `# ${about}\n# Default: ${fallback}.\n# ${name}="${example}"\n`,
  );
  return `# Settings of Posthorn. Copy to .env and take the # off where you need another value.\n\n${entries.join("\n")}`;
}
