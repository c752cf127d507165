/** What may be killed. */
export const VICTIMS = ["web", "worker", "postgres"] as const;
export type Victim = (typeof VICTIMS)[number];

/** The processes of a rig. To the database each of them is a user of that name, so every change says whose it is. */
export const CAST = ["web0", "web1", "worker0", "worker1", "tick"] as const;
export type Actor = (typeof CAST)[number];
/** Whom a trouble befalls. */
export type Who = Actor | "postgres" | "redis";

export const victimOf = (who: Who): Victim | null =>
  who === "postgres"
    ? "postgres"
    : who.startsWith("web")
      ? "web"
      : who.startsWith("worker")
        ? "worker"
        : null;

/** How far a mail had come when something was killed. */
export const STAGES = ["before commit", "queued", "claimed", "handed over", "answered"] as const;
export type Stage = (typeof STAGES)[number];

/** Where the killed process can leave a mail: elsewhere its death means nothing. */
export const STAGES_OF: Readonly<Record<Victim, readonly Stage[]>> = {
  web: ["before commit", "queued"],
  worker: ["queued", "claimed", "handed over", "answered"],
  postgres: STAGES,
};

/** Something that was done to a process. An outcome may be unknown only where one of these explains it. */
export type Trouble = {
  row: string;
  what: "kill" | "freeze" | "cut" | "lock" | "full";
  who: Who;
  fromMs: number;
  /** When it was there again; null where it never came back in this run. */
  toMs: number | null;
};

/** What a mail server did to a message on purpose, so that nobody but it could know what became of it. */
export type Misdeed = { kind: string; step: string; recipients: string[]; atMs: number };

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
  /** The fault during which it was asked for. */
  row: string;
  /** Stands in the subject, and is nobody else's. */
  label: string;
  recipients: string[];
  /** With a key every answer but 2xx is followed by a repetition; without one it is not. */
  key: string | null;
  /** Asks for what has to be refused. */
  isRefusable: boolean;
  /** Not before this time, by the one true clock. */
  scheduledAtMs: number | null;
  tries: Try[];
};

/** A message that the sink has on disk and did not refuse. Times are of this one machine, in milliseconds since the epoch. */
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

/** A change of one delivery, as the audit trigger saw it: `from` is null for its insertion, `by` is whose connection it was. */
export type Step = {
  deliveryId: string;
  atMs: number;
  by: string;
  from: State | null;
  to: State;
};
export type State = { status: string; stage: string; attempts: number; leaseToken: string | null };

/** What became of the events that an endpoint asked for. */
export type HookRecords = {
  /** Events of those kinds for which there is not exactly one row in the outbox. */
  unannounced: number;
  /** Rows of the outbox that were not taken in the end, and those that were taken and never arrived. */
  untold: string[];
  unheard: string[];
  /** Rows that came with two different bodies. */
  changed: string[];
  told: number;
};

/** Everything that is known after a run; what the judge judges. */
export type Records = {
  calls: Call[];
  copies: Copy[];
  mails: MailRow[];
  steps: Step[];
  troubles: Trouble[];
  misdeeds: Misdeed[];
  hooks: HookRecords;
  /** Changes that must never happen: an event altered or removed, a Message-ID that changed. */
  tampering: string[];
  /** Rows still `sending` at the end. */
  stuck: number;
  /** Processes that ended though nobody had killed them, with their last words. */
  deaths: string[];
  /** What a fault found broken by itself. */
  complaints: { row: string; what: string }[];
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
