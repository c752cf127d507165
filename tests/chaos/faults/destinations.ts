import { setTimeout as wait } from "node:timers/promises";
import type { Fault, FaultContext } from "../fault";
import type { Destination } from "../internet";

type Destinations = readonly [Destination, ...Destination[]];

const pollMs = 100;
const patienceMs = 45_000;

/**
 * Sends email there until its servers have failed often enough, or, for a server without failures, until
 * enough was sent.
 */
async function awaitServerFaults(
  { rig, load, times, isLate }: FaultContext,
  destinations: Destinations,
  isFaultless = false,
): Promise<number> {
  const countServerFaults = () =>
    rig.serverFaults.filter(({ kind }) => destinations.some((one) => one === kind)).length;
  const before = countServerFaults();
  const done = () => (isFaultless ? load.accepted() : countServerFaults() - before);
  const untilMs = Date.now() + patienceMs;
  while (done() < times && Date.now() < untilMs && !isLate()) await wait(pollMs);
  return done();
}

const destinationFault = (
  name: string,
  row: string,
  times: Fault["times"],
  destinations: Destinations,
  options: { isFaultless?: boolean; load?: Fault["load"] } = {},
): Fault => ({
  name,
  row,
  place: "direct",
  times,
  load: { ...options.load, destinations },
  inject: (context) => awaitServerFaults(context, destinations, options.isFaultless),
});

export const temporary = destinationFault(
  "smtp-4xx",
  "SMTP 4xx at MAIL, RCPT, DATA, dot",
  { full: 100, short: 12 },
  ["mail-451", "rcpt-452", "data-451", "dot-451", "ok"],
);

export const permanent = destinationFault(
  "smtp-5xx",
  "SMTP 5xx at MAIL, RCPT, DATA, dot",
  { full: 100, short: 12 },
  ["mail-553", "rcpt-550", "data-554", "dot-554", "ok"],
);

export const greylist = destinationFault("greylisting", "greylisting", { full: 60, short: 8 }, [
  "grey",
  "ok",
]);

export const garbage = destinationFault(
  "garbage",
  "garbage reply / unknown code / endless reply",
  { full: 80, short: 10 },
  [
    "garbage-greeting",
    "garbage-ehlo",
    "garbage-mail",
    "garbage-rcpt",
    "garbage-data",
    "thousand-lines",
    "long-line",
  ],
);

export const dropBeforeDot = destinationFault(
  "drop-before-dot",
  "connection dropped at greeting, EHLO, MAIL, RCPT, DATA, in the body; hang before the dot",
  { full: 100, short: 12 },
  ["drop-greeting", "drop-ehlo", "drop-mail", "drop-rcpt", "drop-data", "drop-body", "hang-rcpt"],
);

export const dropAfterDot = destinationFault(
  "drop-after-dot",
  "drop / hang after the dot",
  { full: 60, short: 6 },
  ["drop-dot", "hang-dot", "ok"],
);

export const misleading = destinationFault(
  "lying",
  "contradictory servers: accepted after a rejection, rejected after a 250, absurd SIZE",
  {
    full: 60,
    short: 8,
  },
  ["lie-refused", "lie-rcpt", "lie-size"],
);

export const tarpit = destinationFault(
  "tarpit",
  "tarpit",
  { full: 60, short: 8 },
  ["tarpit", "ok", "ok", "ok", "ok", "ok", "ok", "ok"],
  { isFaultless: true },
);

export const tls = destinationFault(
  "tls",
  "TLS failure, STARTTLS stripped or refused, self-signed certificate, response injection",
  { full: 80, short: 12 },
  ["tls-works", "tls-broken", "tls-injected", "tls-refused"],
  { isFaultless: true },
);

export const dns = destinationFault(
  "dns",
  "connect refused / DNS: SERVFAIL, NXDOMAIN, null MX, slow, truncated, internal addresses",
  { full: 80, short: 12 },
  ["two-servers", "no-mx", "null-mx", "nowhere", "inside", "servfail", "slow-dns", "tcp-dns"],
  { isFaultless: true },
);

const TOO_MANY = [
  "greeting-421",
  "mail-421",
  "rcpt-421",
  "data-421",
  "dot-421",
  "ok",
  "ok",
  "ok",
  "ok",
  "ok",
] as const satisfies Destinations;

/** What the workers learned about a destination is lost when they are restarted. */
export const tooMany: Fault = {
  ...destinationFault("smtp-421", "421 anywhere", { full: 10, short: 0 }, TOO_MANY),
  async inject(context) {
    const times = await awaitServerFaults(context, TOO_MANY);
    await context.load.stop();
    for (const who of ["worker0", "worker1"] as const) await context.rig.processes.stop(who);
    return times;
  },
};
