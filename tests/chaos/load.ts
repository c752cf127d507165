import { setTimeout as wait } from "node:timers/promises";
import { createRandom, type Random } from "../support/random";
import { type Destination, domainOf } from "./internet";
import type { Call, Try } from "./records";

export type LoadOptions = {
  /** The fault during which it goes on. */
  row: string;
  seed: string;
  /** The doors. A client turns to the next one for a repetition. */
  baseUrls: readonly string[];
  token: string;
  /** A domain that the token may send from. */
  domain: string;
  clients: number;
  /** Between two mails of one client. */
  pauseMsMax: number;
  /** Where the mail goes, each with the same chance. */
  destinations: readonly [Destination, ...Destination[]];
  /** Some mails are for later: a few seconds, and this long besides, by which whoever drives the load moves their time. */
  scheduledAheadMs?: number;
};

/** Clients that post mail until they are stopped, and write down every request and its answer. */
export type Load = {
  calls: readonly Call[];
  /** Mails that were answered 2xx until now. */
  accepted(): number;
  /** A mail that belongs to this load, to be posted by `post`; it has a key, and nothing is wrong with it. */
  invent(): { call: Call; body: Record<string, unknown> };
  /** One request for it at a door. */
  post(call: Call, body: unknown, door: number): Promise<Try>;
  /** Settles at the next 2xx of one of the doors. */
  nextAccepted(web: number): Promise<void>;
  /** No new mail; settles when the last repetition under a key has had its 2xx. */
  stop(): Promise<void>;
};

/** In front of every label, so that a packet which carries a mail can be told by it. */
export const LABEL = "Chaos mail";

const keyedShare = 0.6;
const twinShare = 0.15;
const refusableShare = 0.08;
const scheduledShare = 0.3;
const laterMsMax = 6_000;
const answerMsMax = 20_000;
const repeatAfterMs = 60;
/** Far longer than anything is away; a key that still has no answer then is a finding. */
const repeatForMs = 90_000;

/** Starts the clients. */
export function startLoad(options: LoadOptions): Load {
  const calls: Call[] = [];
  const stopping = new AbortController();
  let accepted = 0;
  /** Who waits for the next 2xx, and of which door. */
  let waiting: { web: number; tell(): void }[] = [];
  const tellAccepted = (web: number) => {
    for (const one of waiting) if (one.web === web) one.tell();
    waiting = waiting.filter((one) => one.web !== web);
  };

  const post = async (call: Call, body: unknown, door: number): Promise<Try> => {
    const web = door % options.baseUrls.length;
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
      // No answer, which is what stands there already. Where nobody listened, nobody can have heard either.
      made.wasRefused = isRefused(error);
    }
    made.endedAtMs = Date.now();
    return made;
  };

  /** Goes on to the other door where nobody listened: what was not heard may be asked again, with a key or without. */
  const ask = async (call: Call, body: unknown, door: number): Promise<boolean> => {
    let made = await post(call, body, door);
    for (let next = 1; made.wasRefused && next < options.baseUrls.length; next++)
      made = await post(call, body, door + next);
    if (made.id !== null) tellAccepted(made.web);
    return made.id !== null;
  };

  const client = async (index: number): Promise<void> => {
    const random = createRandom(`${options.seed} client ${index}`);
    for (let n = 0; !stopping.signal.aborted; n++) {
      const { call, body } = inventCall(random, options, `${options.row}-${index}-${n}`);
      calls.push(call);
      const door = random.upTo(options.baseUrls.length);
      const hasTwin = call.key !== null && !call.isRefusable && random.chance(twinShare);
      const answers = await Promise.all([
        ask(call, body, door),
        ...(hasTwin ? [ask(call, body, door + 1)] : []),
      ]);
      const untilMs = Date.now() + repeatForMs;
      for (let again = 1; needsRepetition(call, answers, untilMs); again++) {
        await wait(repeatAfterMs * Math.min(again, 5));
        answers.push(await ask(call, body, door + again));
      }
      if (answers.includes(true)) accepted++;
      await wait(random.upTo(options.pauseMsMax), undefined, { signal: stopping.signal }).catch(() => {});
    }
  };
  const clients = Array.from({ length: options.clients }, (_, index) => client(index));
  const inventing = createRandom(`${options.seed} invented`);
  let invented = 0;

  return {
    invent() {
      const name = `${options.row}-own-${invented++}`;
      const { call, body } = inventCall(inventing, { ...options, isSound: true }, name);
      calls.push(call);
      return { call, body };
    },
    async post(call, body, door) {
      const made = await post(call, body, door);
      if (made.id !== null && call.tries.filter(({ id }) => id !== null).length === 1) accepted++;
      return made;
    },
    calls,
    accepted: () => accepted,
    nextAccepted: (web) =>
      new Promise<void>((tell) => {
        waiting.push({ web, tell });
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

/** A mail for addresses that no other one has, so that whatever arrives belongs to one call alone. */
function inventCall(
  random: Random,
  options: LoadOptions & { isSound?: true },
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
  const isRefusable = !options.isSound && random.chance(refusableShare);
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
  if (isRefusable) random.pick(SPOIL)(body);
  const key = options.isSound || random.chance(keyedShare) ? `key of ${name}` : null;
  return { call: { row, label, recipients, key, isRefusable, scheduledAtMs, tries: [] }, body };
}

/** Ways to ask for what is refused. */
const SPOIL: [(body: Record<string, unknown>) => void, ...((body: Record<string, unknown>) => void)[]] = [
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
