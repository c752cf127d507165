import type { Ceiling } from "#db/destination-limits";
import type { Line } from "#db/set-aside";
import type { Outcome } from "#server/mail/outcome";

/** A destination of which nothing is known yet is met with so many dialogues at once. */
const placesAtFirst = 2;
/** Mail that would wait longer than this for its destination goes back into the queue, where it holds up nobody. */
const waitHereMs = 2_000;
/** While a dialogue is older than this, its destination is given no other one. */
export const slowMs = 5_000;
/** After a destination said that it is too much: so long nothing, doubled each time that it says so again. */
const holdMs = { first: 30_000, most: 15 * 60_000 };
/** Mail that goes back is spread over the time its destination will need, and looked at again by then at the latest. */
const spreadMs = { step: 50, least: 1_000, most: 10 * 60_000 };
/** Dialogues a minute; what is allowed more than `free` is not counted any longer. */
const rate = { least: 1, step: 10, free: 1_200 };
const minuteMs = 60_000;
/** Share of the newest dialogue in the mean. */
const newest = 0.3;

/** A place at a destination. `talk` when the dialogue begins; `leave` once, with what was answered, null where nobody was asked. */
export type Place = { talk(): void; leave(outcomes: readonly Outcome[] | null): void };

/** What a destination is thought to bear at the moment. */
export type KnownPace = { places: number; perMinute: number | null; heldForMs: number };

/**
 * How much each destination bears, learned from its answers and forgotten with the process: how many dialogues at once, how
 * many a minute, and for how long none at all. Success raises it by steps; a 421, or a refusal for coming too fast, halves it.
 * No destination is given more than `placesMax` at once, nor more than its ceiling; and a slow one gets no second dialogue
 * beside its slow one.
 */
export type Paces = {
  /** A place now or within two seconds; else for how long the mail should go back into the queue. */
  enter(destination: string): Promise<Place | { waitMs: number }>;
  /** Puts more mail in line behind all that went back before, by `move`, which tells how many that were. */
  lineUp(destination: string, move: (line: Line) => Promise<number>): Promise<number>;
  /** Sets what a destination is given at most, whatever it bears; null for no such ceiling. Holds from the next place on. */
  limit(destination: string, ceiling: Ceiling | null): void;
  known(destination: string): KnownPace;
};

export type PacesOptions = {
  /** Dialogues at once with one destination at most. */
  placesMax: number;
  /** Monotonic. */
  nowMs: () => number;
  /** Destinations remembered at most, beside those in use. */
  destinationsMax?: number;
};

type UnderWay = { begunAtMs: number | null };
type Destination = {
  places: number;
  perMinute: number | null;
  ceiling: Ceiling;
  underWay: Set<UnderWay>;
  waiting: { admit(place: UnderWay): void; refuse(): void }[];
  /** Answers since the last raise, of the places and of the rate. */
  successes: number;
  pacedSuccesses: number;
  throttledInRow: number;
  loweredAtMs: number;
  heldUntilMs: number;
  nextTalkAtMs: number;
  /** Dialogues begun in this minute and in the one before. */
  begun: { sinceMs: number; count: number; before: number };
  talkMs: number | null;
  /** Up to when mail that went back is spread. */
  spreadToMs: number;
  isTimed: boolean;
};

export function createPaces({ placesMax, nowMs, destinationsMax = 10_000 }: PacesOptions): Paces {
  const destinations = new Map<string, Destination>();

  function destinationOf(name: string): Destination {
    const known = destinations.get(name);
    if (known) {
      // Those that were not used for longest come first, to be forgotten first.
      destinations.delete(name);
      destinations.set(name, known);
      return known;
    }
    const made = unknownDestination(Math.min(placesAtFirst, placesMax));
    destinations.set(name, made);
    if (destinations.size > destinationsMax) forgetOne();
    return made;
  }

  function forgetOne(): void {
    for (const [name, { underWay, waiting, heldUntilMs }] of destinations) {
      if (underWay.size + waiting.length > 0 || heldUntilMs > nowMs()) continue;
      destinations.delete(name);
      return;
    }
  }

  function placeFor(to: Destination, mine: UnderWay): Place {
    return {
      talk() {
        mine.begunAtMs = nowMs();
        countTalk(to, mine.begunAtMs);
      },
      leave(outcomes) {
        if (!to.underWay.delete(mine)) return;
        if (outcomes && mine.begunAtMs !== null) {
          const tookMs = nowMs() - mine.begunAtMs;
          to.talkMs = to.talkMs === null ? tookMs : to.talkMs + newest * (tookMs - to.talkMs);
          learn(to, outcomes, { begunAtMs: mine.begunAtMs, nowMs: nowMs(), placesMax });
        }
        admitWaiting(to);
      },
    };
  }

  function admitWaiting(to: Destination): void {
    if (to.heldUntilMs > nowMs()) for (const waiter of to.waiting.splice(0)) waiter.refuse();
    while (to.waiting.length > 0 && hasRoom(to, nowMs())) {
      const mine = take(to, nowMs());
      to.waiting.shift()?.admit(mine);
    }
    const forRateMs = to.nextTalkAtMs - nowMs();
    if (to.waiting.length === 0 || forRateMs <= 0 || to.isTimed) return;
    to.isTimed = true;
    setTimeout(() => {
      to.isTimed = false;
      admitWaiting(to);
    }, forRateMs);
  }

  return {
    async enter(name) {
      const to = destinationOf(name);
      const atMs = nowMs();
      if (to.waiting.length === 0 && hasRoom(to, atMs)) return placeFor(to, take(to, atMs));
      if (to.heldUntilMs > atMs || expectedMs(to, atMs) > waitHereMs) return { waitMs: spread(to, atMs) };
      return new Promise((resolve) => {
        const waiter = {
          admit(mine: UnderWay) {
            clearTimeout(timer);
            resolve(placeFor(to, mine));
          },
          refuse() {
            clearTimeout(timer);
            resolve({ waitMs: spread(to, nowMs()) });
          },
        };
        const timer = setTimeout(() => {
          to.waiting.splice(to.waiting.indexOf(waiter), 1);
          waiter.refuse();
        }, waitHereMs);
        to.waiting.push(waiter);
        admitWaiting(to);
      });
    },

    async lineUp(name, move) {
      const to = destinationOf(name);
      const line = lineBehind(to, nowMs());
      const count = await move(line);
      to.spreadToMs = Math.min(to.spreadToMs + count * line.stepMs, latestMs(to, nowMs()));
      return count;
    },

    limit(name, ceiling) {
      if (ceiling === null && !destinations.has(name)) return;
      const to = destinationOf(name);
      const { places, perMinute } = ceiling ?? noCeiling;
      if (places === to.ceiling.places && perMinute === to.ceiling.perMinute) return;
      to.ceiling = { places, perMinute };
      // What was reckoned by the old one does not hold any more.
      const rateNow = rateOf(to);
      to.nextTalkAtMs = Math.min(
        to.nextTalkAtMs,
        rateNow === null ? Number.NEGATIVE_INFINITY : nowMs() + minuteMs / rateNow,
      );
      to.spreadToMs = Number.NEGATIVE_INFINITY;
      admitWaiting(to);
    },

    known(name) {
      const to = destinations.get(name) ?? destinationOf(name);
      return {
        places: placesOf(to),
        perMinute: rateOf(to),
        heldForMs: Math.max(0, to.heldUntilMs - nowMs()),
      };
    },
  };
}

const noCeiling: Ceiling = { places: null, perMinute: null };

const placesOf = ({ places, ceiling }: Destination): number =>
  Math.min(places, ceiling.places ?? Number.POSITIVE_INFINITY);

/** Dialogues a minute; null for any number. */
function rateOf({ perMinute, ceiling }: Destination): number | null {
  if (perMinute === null || ceiling.perMinute === null) return perMinute ?? ceiling.perMinute;
  return Math.min(perMinute, ceiling.perMinute);
}

const unknownDestination = (places: number): Destination => ({
  places,
  perMinute: null,
  ceiling: noCeiling,
  underWay: new Set(),
  waiting: [],
  successes: 0,
  pacedSuccesses: 0,
  throttledInRow: 0,
  loweredAtMs: Number.NEGATIVE_INFINITY,
  heldUntilMs: Number.NEGATIVE_INFINITY,
  nextTalkAtMs: Number.NEGATIVE_INFINITY,
  begun: { sinceMs: Number.NEGATIVE_INFINITY, count: 0, before: 0 },
  talkMs: null,
  spreadToMs: Number.NEGATIVE_INFINITY,
  isTimed: false,
});

function hasRoom(to: Destination, atMs: number): boolean {
  if (to.heldUntilMs > atMs || to.nextTalkAtMs > atMs || to.underWay.size >= placesOf(to)) return false;
  return to.underWay.size === 0 || dialogueMs(to, atMs) <= slowMs;
}

function take(to: Destination, atMs: number): UnderWay {
  const mine: UnderWay = { begunAtMs: null };
  to.underWay.add(mine);
  const perMinute = rateOf(to);
  if (perMinute !== null) to.nextTalkAtMs = atMs + minuteMs / perMinute;
  return mine;
}

/** How long a dialogue takes there: what is known, or what the oldest one has taken until now. */
function dialogueMs({ talkMs, underWay }: Destination, atMs: number): number {
  let longestMs = talkMs ?? 0;
  for (const { begunAtMs } of underWay) longestMs = Math.max(longestMs, atMs - (begunAtMs ?? atMs));
  return longestMs;
}

function stepMs(to: Destination, atMs: number): number {
  const perMinute = rateOf(to);
  return Math.max(
    dialogueMs(to, atMs) / Math.max(1, placesOf(to)),
    perMinute === null ? 0 : minuteMs / perMinute,
  );
}

/** Where other workers have all the places there are, none is to be expected here. */
const expectedMs = (to: Destination, atMs: number): number =>
  placesOf(to) === 0
    ? Number.POSITIVE_INFINITY
    : Math.max((to.waiting.length + 1) * stepMs(to, atMs), to.nextTalkAtMs - atMs);

/** When mail that goes back may come again: one after the other, as fast as the destination takes them. */
function spread(to: Destination, atMs: number): number {
  const { waitMs } = lineBehind(to, atMs);
  to.spreadToMs = atMs + waitMs;
  return Math.ceil(waitMs);
}

/** What goes back next comes so long from now, behind all that went back before. */
function lineBehind(to: Destination, atMs: number): Line {
  const stepOfLine = Math.max(spreadMs.step, stepMs(to, atMs));
  const mostMs = latestMs(to, atMs) - atMs;
  const fromMs = Math.max(to.spreadToMs, to.heldUntilMs, atMs + spreadMs.least);
  return { waitMs: Math.min(fromMs + stepOfLine - atMs, mostMs), stepMs: stepOfLine, mostMs };
}

const latestMs = (to: Destination, atMs: number): number => Math.max(to.heldUntilMs, atMs + spreadMs.most);

function countTalk({ begun }: Destination, atMs: number): void {
  const agoMs = atMs - begun.sinceMs;
  if (agoMs >= minuteMs) {
    begun.before = agoMs >= 2 * minuteMs ? 0 : begun.count;
    begun.count = 0;
    begun.sinceMs = atMs;
  }
  begun.count++;
}

function learn(
  to: Destination,
  outcomes: readonly Outcome[],
  { begunAtMs, nowMs, placesMax }: { begunAtMs: number; nowMs: number; placesMax: number },
): void {
  if (outcomes.some(saysTooMuch)) {
    // What began before the last lowering was not yet sent by it, and says nothing new.
    if (begunAtMs < to.loweredAtMs) return;
    const seen = to.perMinute ?? to.begun.count + to.begun.before;
    to.places = Math.max(1, Math.floor(to.places / 2));
    to.perMinute = Math.max(rate.least, Math.floor(seen / 2));
    to.heldUntilMs = nowMs + Math.min(holdMs.first * 2 ** to.throttledInRow, holdMs.most);
    to.throttledInRow++;
    to.loweredAtMs = nowMs;
    to.successes = 0;
    to.pacedSuccesses = 0;
    return;
  }
  if (outcomes.every(isUnreached)) {
    to.places = 1;
    to.successes = 0;
    return;
  }
  if (!outcomes.some(({ kind }) => kind === "accepted")) return;
  if (begunAtMs >= to.loweredAtMs) to.throttledInRow = 0;
  if (++to.successes >= to.places) {
    to.successes = 0;
    to.places = Math.min(placesMax, to.places + 1);
  }
  if (to.perMinute === null || ++to.pacedSuccesses < to.perMinute) return;
  to.pacedSuccesses = 0;
  to.perMinute = to.perMinute + rate.step > rate.free ? null : to.perMinute + rate.step;
}

/** RFC 5321 section 4.2.1: 421 closes the channel, most often since too many are open. */
const saysTooMuch = ({ kind, class: about, reply }: Outcome): boolean =>
  kind !== "accepted" && (about === "rate" || reply?.code === 421);

const isUnreached = ({ kind, reply }: Outcome): boolean => kind === "deferred" && reply === null;
