/** What can be killed. */
export const VICTIMS = ["web", "worker", "postgres"] as const;

/** The processes of a rig. Each has its own database user of that name, so every change is attributed. */
export const PROCESSES = ["web0", "web1", "worker0", "worker1", "tick"] as const;
export type Actor = (typeof PROCESSES)[number];
/** The process or server that a disturbance affects. */
export type Who = Actor | "postgres" | "redis";

/** How far an email had come when a process was killed. */
export const STAGES = ["before commit", "queued", "claimed", "handed over", "answered"] as const;
export type Stage = (typeof STAGES)[number];

/** Something that was done to a process. An outcome may be unknown only if one of these explains it. */
export type Disturbance = {
  row: string;
  what: "kill" | "freeze" | "cut" | "lock" | "full";
  who: Who;
  /** Where an email was held when the process was killed. */
  stage?: Stage;
  fromMs: number;
  /** When the process was running again; null if it was not restarted in this run. */
  toMs: number | null;
};

/** What a mail server did to a message intentionally, so that only it could know the outcome. */
export type ServerFault = { kind: string; step: string; recipients: string[]; atMs: number };

/**
 * One HTTP request. `status` is null without a response; `wasRefused` means that the connection was refused.
 */
export type Try = {
  /** Which web process was called. */
  web: number;
  sentAtMs: number;
  endedAtMs: number;
  status: number | null;
  id: string | null;
  wasRefused: boolean;
};

/** One email as a client requested it, with all its requests. */
export type Call = {
  /** The fault during which it was requested. */
  row: string;
  /** A unique text in the subject. */
  label: string;
  recipients: string[];
  /** With a key, every response but 2xx is followed by a repetition; without one it is not. */
  key: string | null;
  /** An invalid request. */
  isRefusable: boolean;
  /** Not before this time, by the correct clock. */
  scheduledAtMs: number | null;
  tries: Try[];
};

/**
 * A message that the sink has on disk and did not reject. Times are milliseconds since the epoch, of this
 * machine.
 */
export type Copy = {
  recipients: string[];
  /** The EHLO name of the sender. */
  client: string;
  messageId: string | null;
  writtenAtMs: number;
};

/** An installation that was restored from a backup while the original one continued. */
export type Restored = {
  /** The EHLO name of its worker. */
  client: string;
  /** The options of `backstamp release`, in order. */
  decisions: string[];
  /** Recipients whose email was held when it started. */
  held: string[];
  /** Those whose email its operator released, so that a second copy is expected. */
  released: string[];
  /** Recipients of new email, which it accepted itself. */
  own: string[];
};

export type EmailRow = {
  id: string;
  label: string;
  key: string | null;
  messageId: string;
  status: string;
  bodies: number;
  recipients: RecipientRow[];
  events: EventRow[];
};
export type RecipientRow = { id: string; address: string; status: string; attempts: number; lapses: number };
export type EventRow = { type: string; recipient: string | null; attempt: number | null; atMs: number };

/**
 * A change of one delivery, from the audit trigger: `from` is null for its insertion, `by` is the user of the
 * connection.
 */
export type Step = {
  deliveryId: string;
  atMs: number;
  by: string;
  from: State | null;
  to: State;
};
export type State = { status: string; stage: string; attempts: number; leaseToken: string | null };

/** What happened to the events that an endpoint subscribes to. */
export type HookRecords = {
  /** Events of those types for which there is not exactly one row in the outbox. */
  withoutOutboxRow: number;
  /**
   * Rows of the outbox that were not delivered in the end, and those recorded as delivered that never
   * arrived.
   */
  undelivered: string[];
  unreceived: string[];
  /** Rows that arrived with two different bodies. */
  changed: string[];
  deliveredWebhooks: number;
};

/** All records of a run, the input of the judge. */
export type Records = {
  calls: Call[];
  copies: Copy[];
  emails: EmailRow[];
  steps: Step[];
  disturbances: Disturbance[];
  serverFaults: ServerFault[];
  hooks: HookRecords;
  /** Changes that must never happen: an event changed or deleted, a Message-ID changed. */
  tampering: string[];
  /** Rows that are still `sending` at the end. */
  stuck: number;
  /** Processes that ended without being killed, with their last output. */
  exits: string[];
  /** Findings of the faults themselves. */
  faultFindings: { row: string; what: string }[];
  restored: Restored[];
};

/** Groups items by a name, in the order of their first occurrence. */
export function groupBy<T>(items: readonly T[], nameOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(nameOf(item));
    if (group) group.push(item);
    else groups.set(nameOf(item), [item]);
  }
  return groups;
}
