import type { z } from "zod";
import { absoluteFolder, address, flag, listenHost, port, secret, share, wholeNumber } from "./values";

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

export const OPENSSL = "Generate one with: openssl rand -base64 32";
const COLLECTOR_URL = "Enter the URL of a collector: http://127.0.0.1:4318";

/** Settings for operating an installation: backups, schedulers, metrics and traces. */
export const OPERATION_SETTINGS = {
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
  BACKSTAMP_BACKUP_EVERY_HOURS: {
    about: "Hours from one scheduled backup to the next.",
    fallback: "24",
    example: "6",
    read: wholeNumber(1, 720, 24),
  },
  BACKSTAMP_BACKUP_KEEP: {
    about: "Number of scheduled backups to keep. Older ones are deleted after a successful backup.",
    fallback: "7",
    example: "7",
    read: wholeNumber(1, 10_000, 7),
  },
  BACKSTAMP_ALERT_WEBHOOK_URL: {
    about:
      "URL that receives installation alerts as signed POST requests. The console shows the secret, in the section Installation.",
    fallback: "none; alerts are in the console and in emails to the operators",
    example: "https://alerts.example.com/backstamp",
    read: address("Enter the URL of your endpoint: https://alerts.example.com/backstamp", "https:", "http:"),
    isSecret: true,
  },
  BACKSTAMP_TEAM_BOUNCE_PAUSE: {
    about:
      "Bounce rate of 24 hours, in percent of the recipients, above which a team is paused until an operator resumes it. Amazon SES pauses accounts at 10.",
    fallback: "none; no team is paused for its bounces",
    example: "10",
    read: share(10),
  },
  BACKSTAMP_TEAM_COMPLAINT_PAUSE: {
    about:
      "The same for the complaint rate. Amazon SES pauses accounts at 0.5, Gmail requires less than 0.3.",
    fallback: "none; no team is paused for its complaints",
    example: "0.5",
    read: share(0.5),
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
