import type { Deps } from "#server/deps";
import type { Relay } from "#server/mail/transport/relay";
import type { RelayTimeouts } from "#server/mail/transport/smtp/timeouts";

/** The parts of an installation that are checked, in the order of the report. */
export const CHECKS = [
  "settings",
  "database",
  "schema",
  "clock",
  "disk",
  "backups",
  "secret",
  "workers",
  "rate_limits",
  "smtp",
  "dns",
  "domains",
  "return_path",
  "reverse_dns",
  "ports",
  "proxy",
] as const;
export type Check = (typeof CHECKS)[number];

/**
 * From the least to the most severe. `not_checked` says why a check does not apply here or was not possible.
 */
export type Status = "not_checked" | "ok" | "warning" | "error";

/**
 * One result: what was found, as a sentence, and what to do about it. `subject` is the relay, domain or port.
 */
export type Finding = {
  check: Check;
  subject: string | null;
  status: Status;
  message: string;
  advice: string | null;
};

/** The settings and effects that the checks need besides those of a service. */
export type DoctorDeps = Deps & {
  /** Why no database can be used, if that is known already. */
  databaseFault: string | null;
  /** What is wrong with a database that rejects the connection, and what to do; null for an unknown error. */
  explainDatabaseFault(error: unknown): string | null;
  /** Why the folder of scheduled backups cannot be written, and what to do; null if there is no fault. */
  findBackupFolderFault(): Promise<string | null>;
  /** Why the settings are not complete for production; null if they are. */
  settingsFault: string | null;
  /** `npm run dev`, which captures email and needs no backups. */
  isDevelopment: boolean;
  /** Whether scheduled backups are made without a passphrase. */
  areBackupsPlain: boolean;
  /** The relay of `SMTP_URL`. */
  smtpUrlRelay: Relay | null;
  relayTimeouts: Partial<RelayTimeouts>;
  /** Whether BACKSTAMP_SECRET is known. Without it, links and what is encrypted cannot be read. */
  hasSecret: boolean;
  /** The name in EHLO. */
  ehloName: string;
  /** The port of MX hosts. */
  mxPort: number;
  listeners: { setting: string; host: string; port: number; isImplicitTls: boolean }[];
  /** Reads the certificate of SMTP submission in PEM format; null without one. */
  readCertificate: (() => Promise<string>) | null;
  trustedHops: number;
  /** The configured public URL; null if there is none. */
  publicUrl: string | null;
  /** The issuer of sign-in with OpenID Connect; null if that is off. */
  oidcIssuer: string | null;
  /**
   * Sends a GET to a URL that the settings name, and follows no redirects. `body` is null if it is not JSON.
   */
  fetchJson(url: string, signal: AbortSignal): Promise<{ status: number; body: unknown }>;
};

/** A finding without the name of its check. */
export type Result = Omit<Finding, "check" | "advice" | "subject"> & { subject?: string; advice?: string };

const resultOf =
  (status: Status) =>
  (message: string, subject?: string): Result => ({ status, message, subject });
export const ok = resultOf("ok");
export const notChecked = resultOf("not_checked");

const faultOf =
  (status: Status) =>
  (message: string, advice: string, subject?: string): Result => ({ status, message, advice, subject });
export const warning = faultOf("warning");
export const failure = faultOf("error");

/**
 * A fault from a text of two sentences or more: the first one, and the rest as the advice. `advice` is for a
 * text of one.
 */
export function failureOf(text: string, advice: string): Result {
  const [, sentence = text, rest = advice] = /^(.*?\.) (.*)$/s.exec(text) ?? [];
  return failure(sentence, rest);
}

/** Why a request failed; the cause names the fault of the connection. */
export const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return "";
  return (error.cause instanceof Error ? error.cause : error).message;
};

/** For each check but the one of the database. */
export const NEEDS_DATABASE = notChecked("This needs the database, see above.");

/** The longest time of one check. */
export const checkMsMax = 20_000;
/** The longest time of one SMTP connection, below that of a check. */
export const probeMsMax = 10_000;
