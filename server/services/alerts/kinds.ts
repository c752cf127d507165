/** How serious an alert is. `critical`: email is not accepted or not delivered. */
export type Severity = "critical" | "warning";

export type KindOfAlert = {
  severity: Severity;
  title: string;
  /** What to do, in one or two sentences. */
  toDo: string;
  /** The page of the console that shows more. */
  page: string;
  /** The condition holds for this long before the alert opens. Default: it opens at once. */
  openAfterMinutes?: number;
  /** The condition is absent for this long before the alert is resolved, so that flapping sends nothing. */
  resolveAfterMinutes?: number;
};

/** All alerts. The stored names never change, because existing rows contain them. */
export const ALERT_KINDS = {
  bounce_rate: {
    severity: "warning",
    title: "High bounce rate",
    toDo: "Remove addresses that do not exist from your lists, and confirm new addresses before you send to them. Providers block senders above 5%.",
    page: "/console/emails?status=bounced",
    resolveAfterMinutes: 60,
  },
  complaint_rate: {
    severity: "warning",
    title: "High complaint rate",
    toDo: "Send only to people who asked for your email, and make it easy to unsubscribe. Gmail asks senders to stay below 0.1%.",
    page: "/console/emails?status=complained",
    resolveAfterMinutes: 60,
  },
  domain_dns: {
    severity: "critical",
    title: "DNS records lost",
    toDo: "Publish the records again as the page of the domain shows them, then verify them there. Without them, the domain loses its verification and can no longer send.",
    page: "/console/domains",
  },
  unaligned_source: {
    severity: "warning",
    title: "New unaligned source",
    toDo: "See the reports on the page of the domain. If the source is yours, let it sign with DKIM for the domain. If it is not, a stricter DMARC policy makes receivers reject its email.",
    page: "/console/domains",
  },
  endpoint_disabled: {
    severity: "warning",
    title: "Webhook disabled",
    toDo: "Correct the endpoint, enable it again on its page, and replay the events that failed.",
    page: "/console/webhooks",
  },
  team_paused: {
    severity: "critical",
    title: "Sending paused",
    toDo: "Email is accepted and stays queued. Correct the cause, then ask the operator of this installation to resume sending.",
    page: "/console",
  },
  team_paused_by_rate: {
    severity: "warning",
    title: "Team paused",
    toDo: "Contact the team. When the cause is corrected, resume the team on the page Queues.",
    page: "/console/installation/queues",
  },
  delivery_backlog: {
    severity: "critical",
    title: "Email is late",
    toDo: "Check that workers run and are not overloaded: run backstamp doctor, then add workers.",
    page: "/console/installation",
    resolveAfterMinutes: 15,
  },
  webhook_backlog: {
    severity: "warning",
    title: "Webhook events are late",
    toDo: "An endpoint responds slowly, or too few workers run: run backstamp webhook list.",
    page: "/console/installation",
    resolveAfterMinutes: 15,
  },
  relay_paused: {
    severity: "critical",
    title: "Relay paused after faults",
    toDo: "Test the relay on the page Relays, and correct its address or login. Email without another relay waits.",
    page: "/console/installation/relays",
    // Shorter pauses are normal: a provider that is restarted, or limits connections.
    openAfterMinutes: 5,
    resolveAfterMinutes: 15,
  },
  disk_space: {
    severity: "critical",
    title: "Disk nearly full",
    toDo: "Enlarge the disk of the database, or shorten the retention of email. When the disk is full, no email is accepted.",
    page: "/console/installation",
    openAfterMinutes: 2,
    resolveAfterMinutes: 30,
  },
  name_servers: {
    severity: "critical",
    title: "No name server responds",
    toDo: "Correct BACKSTAMP_DNS_SERVERS, or the name servers of the machines. Email to MX hosts is deferred until one responds.",
    page: "/console/installation/doctor",
    resolveAfterMinutes: 5,
  },
  clock_skew: {
    severity: "warning",
    title: "Clocks differ",
    toDo: "Synchronize all machines and the database by NTP. Signatures, links and sessions depend on it.",
    page: "/console/installation/doctor",
    resolveAfterMinutes: 5,
  },
  rate_limit_store: {
    severity: "warning",
    title: "Redis does not respond",
    toDo: "Start Redis, or correct its URL. Until then, each process counts rate limits by itself.",
    page: "/console/installation/doctor",
    openAfterMinutes: 1,
    resolveAfterMinutes: 5,
  },
  worker_lost: {
    severity: "warning",
    title: "Worker ended",
    toDo: "For the reason, see the log of the worker. Start another one: backstamp worker",
    page: "/console/installation",
    openAfterMinutes: 1,
  },
  backup_old: {
    severity: "warning",
    title: "Backup too old",
    toDo: "For the reason, run: backstamp backup --list",
    page: "/console/installation",
  },
} as const satisfies Record<string, KindOfAlert>;

export type AlertKind = keyof typeof ALERT_KINDS;

export const alertKinds = Object.keys(ALERT_KINDS) as AlertKind[];

/** The properties of a kind. */
export const alertKind = (kind: AlertKind): KindOfAlert => ALERT_KINDS[kind];

/**
 * A condition that holds now. `subject` identifies it within its kind and scope, `name` is its name for
 * people.
 */
export type Condition = {
  kind: AlertKind;
  /** Null for the installation. */
  teamId: string | null;
  subject: string;
  name: string;
  message: string;
};

export type AlertEvent = "opened" | "reminder" | "resolved";

/** What people are notified of. Times are ISO 8601. */
export type Announcement = {
  id: string;
  event: AlertEvent;
  teamId: string | null;
  kind: AlertKind;
  subject: string;
  name: string;
  message: string;
  openedAt: string;
  resolvedAt: string | null;
};
