const ADMIN = "Set BACKSTAMP_ADMIN=email:password.";
const GITHUB = "Set AUTH_GITHUB=id:secret.";
const GOOGLE = "Set AUTH_GOOGLE=id:secret.";

/** Settings of 0.2.0 that are not read any more, and what to do instead. Startup rejects them. */
export const REPLACED: Readonly<Record<string, string>> = {
  BACKSTAMP_ADMIN_EMAIL: ADMIN,
  BACKSTAMP_ADMIN_PASSWORD: ADMIN,
  BACKSTAMP_DB_POOLED:
    "Remove it. Behind a pooler, set DATABASE_URL_UNPOOLED, if necessary to the same URL as DATABASE_URL.",
  BACKSTAMP_SMTP_TIME_LIMITS: "Set BACKSTAMP_TIME_LIMITS, with the same value.",
  BACKSTAMP_LEASE_SECONDS: "Set BACKSTAMP_TIME_LIMITS, for example lease=60.",
  BACKSTAMP_MX_PORT: "Set SMTP_URL to direct: with the port, for example direct:2525.",
  AUTH_GITHUB_ID: GITHUB,
  AUTH_GITHUB_SECRET: GITHUB,
  AUTH_GOOGLE_ID: GOOGLE,
  AUTH_GOOGLE_SECRET: GOOGLE,
};
