/** What may be killed. */
export const VICTIMS = ["web", "worker", "postgres"] as const;
export type Victim = (typeof VICTIMS)[number];

/** How far a mail had come when something was killed. */
export const STAGES = ["before commit", "queued", "claimed", "handed over", "answered"] as const;
export type Stage = (typeof STAGES)[number];

/** Where the killed process can leave a mail: elsewhere its death means nothing. */
export const STAGES_OF: Readonly<Record<Victim, readonly Stage[]>> = {
  web: ["before commit", "queued"],
  worker: ["queued", "claimed", "handed over", "answered"],
  postgres: STAGES,
};

/**
 * `web` is which of the web processes, and null where another process was killed. `backAtMs` is when PostgreSQL or the
 * worker was there again.
 */
export type Kill = {
  victim: Victim;
  web: number | null;
  aim: Stage | "random";
  atMs: number;
  backAtMs: number | null;
};

/** One HTTP request; `status` is null where no answer came, and `wasRefused` says that nobody was there to be asked. */
export type Try = {
  /** Which of the web processes was asked. */
  web: number;
  sentAtMs: number;
  endedAtMs: number;
  status: number | null;
  id: string | null;
  wasRefused: boolean;
};

/** One mail as a client wants it, with every request that was made for it. */
export type Call = {
  /** Stands in the subject, and is nobody else's. */
  label: string;
  recipients: string[];
  /** With a key every answer but 2xx is followed by a repetition; without one it is not. */
  key: string | null;
  /** Asks for what has to be refused. */
  isRefusable: boolean;
  tries: Try[];
};

/** A message that the sink has on disk. Times are of this one machine, in milliseconds since the epoch. */
export type Copy = { recipients: string[]; messageId: string | null; writtenAtMs: number };

export type MailRow = {
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

/** A change of one delivery, as the audit trigger saw it: `from` is null for its insertion. */
export type Step = {
  deliveryId: string;
  atMs: number;
  from: State | null;
  to: State;
};
export type State = { status: string; stage: string; attempts: number; leaseToken: string | null };

/** Everything that is known after a run; what the judge judges. */
export type Records = {
  calls: Call[];
  copies: Copy[];
  mails: MailRow[];
  steps: Step[];
  kills: Kill[];
  /** Changes that must never happen: an event altered or removed, a Message-ID that changed. */
  tampering: string[];
  /** Rows still `sending` at the end. */
  stuck: number;
  /** Processes that ended though nobody had killed them, with their last words. */
  deaths: string[];
};

/** Items by a name of theirs, in the order of the first of each name. */
export function groupBy<T>(items: readonly T[], nameOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(nameOf(item));
    if (group) group.push(item);
    else groups.set(nameOf(item), [item]);
  }
  return groups;
}
