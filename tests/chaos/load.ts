import { setTimeout as wait } from "node:timers/promises";
import { createRandom, type Random } from "../support/random";
import { type Destination, domainOf } from "./internet";
import type { Call, Try } from "./records";

export type LoadOptions = {
  /** The fault during which the load runs. */
  row: string;
  seed: string;
  /** The web processes. A client uses the next one for a repetition. */
  baseUrls: readonly string[];
  token: string;
  /** A domain that the token may send from. */
  domain: string;
  clients: number;
  /** Between two emails of one client. */
  pauseMsMax: number;
  /** The destinations, each with the same probability. */
  destinations: readonly [Destination, ...Destination[]];
  /**
   * Some emails are scheduled: for a few seconds, plus this time, by which the run shifts their time later.
   */
  scheduledAheadMs?: number;
};

/** Clients that send email until they are stopped, and record every request and its response. */
export type Load = {
  calls: readonly Call[];
  /** Emails with a 2xx response so far. */
  accepted(): number;
  /** A valid email of this load with an idempotency key, to be sent with `post`. */
  createCall(): { call: Call; body: Record<string, unknown> };
  /** One request for it to a web process. */
  post(call: Call, body: unknown, webIndex: number): Promise<Try>;
  /** Resolves at the next 2xx of one of the web processes. */
  nextAccepted(web: number): Promise<void>;
  /** Starts no new email. Resolves when the last repetition under a key has its 2xx. */
  stop(): Promise<void>;
};

/** At the start of every label, to identify a packet that carries an email. */
export const LABEL = "Chaos mail";

const keyedShare = 0.6;
const duplicateShare = 0.15;
const refusableShare = 0.08;
const scheduledShare = 0.3;
const laterMsMax = 6_000;
const answerMsMax = 20_000;
const repeatAfterMs = 60;
/** Far longer than any outage. A key without a response after that is a finding. */
const repeatForMs = 90_000;

/** Starts the clients. */
export function startLoad(options: LoadOptions): Load {
  const calls: Call[] = [];
  const stopping = new AbortController();
  let accepted = 0;
  /** Waiters for the next 2xx of a web process. */
  let waiting: { web: number; send(): void }[] = [];
  const notifyAccepted = (web: number) => {
    for (const one of waiting) if (one.web === web) one.send();
    waiting = waiting.filter((one) => one.web !== web);
  };

  const post = async (call: Call, body: unknown, webIndex: number): Promise<Try> => {
    const web = webIndex % options.baseUrls.length;
    const made: Try = {
      web,
      sentAtMs: Date.now(),
      endedAtMs: Number.POSITIVE_INFINITY,
      status: null,
      id: null,
      wasRefused: false,
    };
    call.tries.push(made);
    try {
      const response = await fetch(
        `${options.baseUrls[web]}/api/emails`,
        requestOf(options.token, call, body),
      );
      const answer: unknown = await response.json();
      made.status = response.status;
      if (response.ok && isAnswer(answer)) made.id = answer.id;
    } catch (error) {
      // No response, which is the initial value. If no process listened, the request cannot have been
      // received.
      made.wasRefused = isRefused(error);
    }
    made.endedAtMs = Date.now();
    return made;
  };

  /**
   * Continues at the other web process if the connection was refused: such a request may be repeated even
   * without a key.
   */
  const ask = async (call: Call, body: unknown, webIndex: number): Promise<boolean> => {
    let made = await post(call, body, webIndex);
    for (let next = 1; made.wasRefused && next < options.baseUrls.length; next++)
      made = await post(call, body, webIndex + next);
    if (made.id !== null) notifyAccepted(made.web);
    return made.id !== null;
  };

  const client = async (index: number): Promise<void> => {
    const random = createRandom(`${options.seed} client ${index}`);
    for (let n = 0; !stopping.signal.aborted; n++) {
      const { call, body } = createCall(random, options, `${options.row}-${index}-${n}`);
      calls.push(call);
      const webIndex = random.upTo(options.baseUrls.length);
      const hasDuplicate = call.key !== null && !call.isRefusable && random.chance(duplicateShare);
      const answers = await Promise.all([
        ask(call, body, webIndex),
        ...(hasDuplicate ? [ask(call, body, webIndex + 1)] : []),
      ]);
      const untilMs = Date.now() + repeatForMs;
      for (let again = 1; needsRepetition(call, answers, untilMs); again++) {
        await wait(repeatAfterMs * Math.min(again, 5));
        answers.push(await ask(call, body, webIndex + again));
      }
      if (answers.includes(true)) accepted++;
      await wait(random.upTo(options.pauseMsMax), undefined, { signal: stopping.signal }).catch(() => {});
    }
  };
  const clients = Array.from({ length: options.clients }, (_, index) => client(index));
  const ownRandom = createRandom(`${options.seed} invented`);
  let ownCount = 0;

  return {
    createCall() {
      const name = `${options.row}-own-${ownCount++}`;
      const { call, body } = createCall(ownRandom, { ...options, isValid: true }, name);
      calls.push(call);
      return { call, body };
    },
    async post(call, body, webIndex) {
      const made = await post(call, body, webIndex);
      if (made.id !== null && call.tries.filter(({ id }) => id !== null).length === 1) accepted++;
      return made;
    },
    calls,
    accepted: () => accepted,
    nextAccepted: (web) =>
      new Promise<void>((send) => {
        waiting.push({ web, send });
      }),
    stop: async () => {
      stopping.abort();
      await Promise.all(clients);
    },
  };
}

const needsRepetition = (call: Call, answers: boolean[], untilMs: number): boolean =>
  call.key !== null && !call.isRefusable && !answers.includes(true) && Date.now() < untilMs;

const isRefused = (error: unknown): boolean =>
  error instanceof Error &&
  error.cause instanceof Error &&
  "code" in error.cause &&
  error.cause.code === "ECONNREFUSED";

const isAnswer = (answer: unknown): answer is { id: string } =>
  typeof answer === "object" && answer !== null && "id" in answer && typeof answer.id === "string";

function requestOf(token: string, call: Call, body: unknown): RequestInit {
  return {
    method: "POST",
    headers: {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      ...(call.key === null ? {} : { "idempotency-key": call.key }),
    },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(answerMsMax),
  };
}

/** An email for unique addresses, so that every delivery belongs to one request. */
function createCall(
  random: Random,
  options: LoadOptions & { isValid?: true },
  name: string,
): { call: Call; body: Record<string, unknown> } {
  const { row, domain, destinations, scheduledAheadMs } = options;
  const count = random.pick([1, 1, 1, 1, 1, 1, 2, 3, 5, 12]);
  const first = random.pick(destinations);
  const recipients = Array.from(
    { length: count },
    (_, k) => `r-${name}-${k}@${domainOf(k % 2 === 0 ? first : random.pick(destinations))}`,
  );
  const isForLater = scheduledAheadMs !== undefined && random.chance(scheduledShare);
  const scheduledAtMs = isForLater ? Date.now() + random.upTo(laterMsMax) : null;
  const label = `${LABEL} ${name}`;
  const isRefusable = !options.isValid && random.chance(refusableShare);
  const copied = random.upTo(count);
  const [html, text] = random.pick<[string, string | undefined]>([
    ["<p>Hello</p>", undefined],
    ["<p>Hello</p>", "Hello"],
    [`<p>${"All the news that fits. ".repeat(2_000)}</p>`, "News"],
  ]);
  const body: Record<string, unknown> = {
    from: `Chaos <chaos@${domain}>`,
    to: recipients.slice(0, copied),
    cc: recipients.slice(copied, copied + 2),
    bcc: recipients.slice(copied + 2),
    subject: label,
    html,
    ...(text === undefined ? {} : { text }),
    ...(scheduledAtMs === null
      ? {}
      : { scheduled_at: new Date(scheduledAtMs + (scheduledAheadMs ?? 0)).toISOString() }),
  };
  if (isRefusable) random.pick(INVALIDATE)(body);
  const key = options.isValid || random.chance(keyedShare) ? `key of ${name}` : null;
  return { call: { row, label, recipients, key, isRefusable, scheduledAtMs, tries: [] }, body };
}

/** Kinds of invalid requests. */
const INVALIDATE: [(body: Record<string, unknown>) => void, ...((body: Record<string, unknown>) => void)[]] =
  [
    (body) => {
      body.from = "chaos@not-linked.test";
    },
    (body) => {
      body.unheard_of = true;
    },
    (body) => {
      body.to = ["not an address"];
    },
  ];
