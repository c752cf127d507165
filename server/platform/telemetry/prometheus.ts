import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";

/** Distinct relay names that are labels. Further ones share the label `other`. */
const transportsMax = 20;
const transportCharsMax = 64;

/** Upper bounds in seconds. */
const FAST = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const SLOW = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900];

const STATUS_CLASSES = ["2xx", "3xx", "4xx", "5xx"] as const;
const DELIVERY_RESULTS = [
  "queued",
  "sent",
  "delivered",
  "bounced",
  "failed",
  "unknown",
  "suppressed",
] as const;

/**
 * Counts and durations of this process, for a monitoring system. Recording never throws and never waits.
 * Where metrics are off, there is no object, so nothing is measured.
 */
export type Metrics = ReturnType<typeof createPrometheus>["metrics"];

/**
 * The metrics of this process in a registry of their own, with the figures of Node and of the process. The
 * number of series is bounded: labels have fixed sets of values, except the names of the operator's relays,
 * of which the first 20 are kept. Counters with few series start at 0, so that an alert sees their first
 * increase.
 */
export function createPrometheus({ version, role }: { version: string; role: "web" | "worker" }) {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  new Gauge({
    name: "backstamp_build_info",
    help: "1, with the version and the role of the process (web or worker) as labels.",
    labelNames: ["version", "role"],
    registers,
  }).set({ version, role }, 1);

  const requests = new Histogram({
    name: "backstamp_api_request_seconds",
    help: "Duration of requests to the REST API, including the time the client takes to send the body, by class of the status.",
    labelNames: ["status"],
    buckets: FAST,
    registers,
  });
  const accepts = new Histogram({
    name: "backstamp_accept_seconds",
    help: "Time from a checked submission (API or SMTP) to its commit. result: committed, repeated (idempotency key) or failed.",
    labelNames: ["result"],
    buckets: FAST,
    registers,
  });
  const accepted = new Counter({
    name: "backstamp_emails_accepted_total",
    help: "Emails accepted by API and SMTP.",
    registers,
  });
  const attempts = new Counter({
    name: "backstamp_attempts_total",
    help: "Attempts per recipient, by transport, class of the recipient's provider and outcome.",
    labelNames: ["transport", "provider", "outcome"],
    registers,
  });
  const replies = new Counter({
    name: "backstamp_rejections_total",
    help: "Recipients that a server deferred or rejected, by class of the provider, outcome and class of the reply.",
    labelNames: ["provider", "outcome", "class"],
    registers,
  });
  const dialogues = new Histogram({
    name: "backstamp_smtp_seconds",
    help: "Duration of SMTP attempts, including the wait for a connection to the server.",
    labelNames: ["transport"],
    buckets: SLOW,
    registers,
  });
  const deliveries = new Counter({
    name: "backstamp_deliveries_total",
    help: "Recorded results of deliveries by new status; queued means deferred.",
    labelNames: ["status"],
    registers,
  });
  const webhooks = new Histogram({
    name: "backstamp_webhook_attempt_seconds",
    help: "Duration of webhook attempts. result: succeeded, failed, or gone (the endpoint responded with 410).",
    labelNames: ["result"],
    buckets: SLOW,
    registers,
  });
  const fallbacks = new Counter({
    name: "backstamp_limiter_fallbacks_total",
    help: "Rate limits that this process counted by itself because the shared store failed.",
    registers,
  });
  const waits = new Histogram({
    name: "backstamp_database_wait_seconds",
    help: "Time that statements (pool general) and transactions of the hot paths (pool hot) waited for a database connection.",
    labelNames: ["pool"],
    buckets: FAST,
    registers,
  });

  for (const status of STATUS_CLASSES) requests.zero({ status });
  for (const result of ["committed", "repeated", "failed"]) accepts.zero({ result });
  for (const result of ["succeeded", "failed", "gone"]) webhooks.zero({ result });
  for (const pool of ["general", "hot"]) waits.zero({ pool });
  for (const status of DELIVERY_RESULTS) deliveries.inc({ status }, 0);

  const transportOf = boundLabels(transportsMax, transportCharsMax);
  return {
    metrics: {
      /** A response of the REST API, by its status. */
      recordRequest: (status: number, seconds: number) =>
        requests.observe({ status: `${Math.floor(status / 100)}xx` }, seconds),
      /**
       * A checked submission, from the queue of the accepting statement to its commit. `emails` is 0 if
       * nothing was written.
       */
      recordAccept(result: "committed" | "repeated" | "failed", emails: number, seconds: number): void {
        accepts.observe({ result }, seconds);
        accepted.inc(emails);
      },
      recordAttempt({ transport, provider, outcome, replyClass }: AttemptFigures): void {
        attempts.inc({ transport: transportOf(transport), provider, outcome });
        if (replyClass !== null) replies.inc({ provider, outcome, class: replyClass });
      },
      /** The time of one attempt with a server, including the wait for a connection to it. */
      recordDialogue: (transport: string, seconds: number) =>
        dialogues.observe({ transport: transportOf(transport) }, seconds),
      /** A recorded result of a delivery, by its new status. */
      recordDelivery: (status: string) => deliveries.inc({ status }),
      recordWebhookAttempt: (result: "succeeded" | "gone" | "failed", seconds: number) =>
        webhooks.observe({ result }, seconds),
      /** A rate limit was counted in this process, because the shared store failed. */
      recordLimiterFallback: () => fallbacks.inc(),
      /**
       * The time that statements and transactions of Drizzle (`general`) or transactions of the hot paths
       * waited for a connection; 0 if one was free.
       */
      recordConnectionWait: (pool: "general" | "hot", seconds: number) => waits.observe({ pool }, seconds),
    },
    /** All metrics in the text format of Prometheus. */
    render: () => registry.metrics(),
  };
}

/** The result of one attempt for one recipient. Every value is one of a fixed set, except `transport`. */
type AttemptFigures = {
  /**
   * `direct`, `smtp_url`, `capture`, `test`, `team_relay`, or `relay:` and the name of a relay of the
   * installation.
   */
  transport: string;
  /** Class of the recipient's provider. */
  provider: string;
  outcome: string;
  /** Class of the reply that rejected or deferred the email; null without such a reply. */
  replyClass: string | null;
};

/**
 * Keeps the first `valuesMax` distinct values and replaces further ones by `other`, so that the number of
 * series is bounded.
 */
function boundLabels(valuesMax: number, charsMax: number): (value: string) => string {
  const known = new Set<string>();
  return (value) => {
    const label = value.slice(0, charsMax);
    if (!known.has(label) && known.size >= valuesMax) return "other";
    known.add(label);
    return label;
  };
}
