import type { Answer } from "dns-packet";
import { addressRecords, type DnsReply, type DnsScript } from "../support/servers/dns-test-server";

/**
 * The step at which a recipient's server fails. "body": when its first bytes have arrived. "dot": when the
 * message is on disk.
 */
export type SmtpStep = "greeting" | "ehlo" | "starttls" | "mail" | "rcpt" | "data" | "body" | "dot";

/**
 * A reply instead of the usual one, after which the server may hang up; or the connection ends, now or after
 * a delay.
 */
export type SmtpFault = { reply: string; hangsUp?: true } | "drop" | "hang";

/** Every third time at this step, the first two times, the first time for each recipient, or every time. */
export type When = "third" | "twice" | "first" | "always";

/** The expected outcome of its email. "returns": it is delivered, and bounces later. */
export type Expectation = "arrives" | "bounces" | "fails" | "returns";

/** How the server of one destination behaves. */
export type Behavior = {
  expected?: Expectation;
  serverFault?: { step: SmtpStep; smtpFault: SmtpFault; when: When };
  /** Stores a message that it rejects at the dot. */
  storesRejected?: true;
  /** A delay before each of its replies. */
  delayMs?: number;
  tls?: "works" | "broken" | "injected";
  /** Its DNS records. Default: one server, found by MX. */
  dns?:
    | "two servers"
    | "no MX"
    | "null MX"
    | "no such name"
    | "fails at first"
    | "slow"
    | "by TCP"
    | "inside";
};

const at = (step: SmtpStep, smtpFault: SmtpFault, when: When = "third"): Behavior => ({
  serverFault: { step, smtpFault, when },
});
const reply = (text: string): SmtpFault => ({ reply: text });
const bye = (text: string): SmtpFault => ({ reply: text, hangsUp: true });
const bounces = (step: SmtpStep, text: string): Behavior => ({
  ...at(step, reply(text), "always"),
  expected: "bounces",
});

/** A server that uses up memory: its reply has a thousand lines. */
const THOUSAND_LINES = `${"250-and so on\r\n".repeat(1_000)}250 ok`;
const LONG_LINE = `250 ${"x".repeat(1_000_000)}`;

/** All destinations, each with its own loopback address. The domain is `<name>.sink.test`. */
export const DESTINATIONS = {
  ok: {},
  relay: {},
  "mail-451": at("mail", reply("451 4.3.0 not now")),
  "rcpt-452": at("rcpt", reply("452 4.2.2 mailbox full")),
  "data-451": at("data", reply("451 4.3.0 not now")),
  "dot-451": at("dot", reply("451 4.3.0 not now")),
  "rcpt-550": bounces("rcpt", "550 5.1.1 no such user"),
  "mail-553": bounces("mail", "553 5.7.1 not from you"),
  "data-554": bounces("data", "554 5.7.1 not that"),
  "dot-554": bounces("dot", "554 5.7.1 spam"),
  "greeting-421": at("greeting", bye("421 4.3.2 too many"), "twice"),
  "mail-421": at("mail", bye("421 4.7.0 too many"), "twice"),
  "rcpt-421": at("rcpt", bye("421 4.7.0 too many"), "twice"),
  "data-421": at("data", bye("421 4.7.0 too many"), "twice"),
  "dot-421": at("dot", bye("421 4.7.0 too many"), "twice"),
  grey: at("rcpt", reply("451 4.7.1 Greylisted, please come again in 60 seconds"), "first"),
  "garbage-greeting": at("greeting", reply("hello there")),
  "garbage-ehlo": at("ehlo", reply("\0\0\xff what")),
  "garbage-mail": at("mail", reply("what")),
  "garbage-rcpt": at("rcpt", reply("999 nobody knows")),
  "garbage-data": at("data", reply("perhaps")),
  "thousand-lines": at("rcpt", reply(THOUSAND_LINES)),
  "long-line": at("mail", reply(LONG_LINE)),
  "drop-greeting": at("greeting", "drop"),
  "drop-ehlo": at("ehlo", "drop"),
  "drop-mail": at("mail", "drop"),
  "drop-rcpt": at("rcpt", "drop"),
  "drop-data": at("data", "drop"),
  "drop-body": at("body", "drop"),
  "drop-dot": at("dot", "drop"),
  "hang-dot": at("dot", "hang"),
  "hang-rcpt": at("rcpt", "hang"),
  tarpit: { delayMs: 400 },
  "tls-works": { tls: "works" },
  "tls-broken": { tls: "broken" },
  "tls-injected": { tls: "injected" },
  "tls-refused": { tls: "works", ...at("starttls", reply("454 4.7.0 not now"), "always") },
  "lie-refused": { ...at("dot", reply("451 4.3.0 did not keep it")), storesRejected: true },
  "lie-rcpt": bounces("dot", "550 5.1.1 on second thoughts: no such user"),
  "lie-size": at("ehlo", reply("250-liar.test\r\n250 SIZE 99999999999999999999")),
  "two-servers": { dns: "two servers" },
  "no-mx": { dns: "no MX" },
  "null-mx": { dns: "null MX", expected: "fails" },
  nowhere: { dns: "no such name", expected: "fails" },
  inside: { dns: "inside", expected: "fails" },
  servfail: { dns: "fails at first" },
  "slow-dns": { dns: "slow" },
  "tcp-dns": { dns: "by TCP" },
  returned: { expected: "returns" },
} as const satisfies Record<string, Behavior>;
export type Destination = keyof typeof DESTINATIONS;

const NAMES = Object.keys(DESTINATIONS) as Destination[];
const zone = "sink.test";
/** No server listens there. */
const closedAddress = "127.0.2.1";

export const addressOf = (name: Destination): string => `127.0.1.${NAMES.indexOf(name) + 1}`;

export const domainOf = (name: Destination): string => `${name}.${zone}`;

export const behaviorOf = (name: Destination): Behavior => DESTINATIONS[name];

export const destinationOf = (recipient: string): Destination | undefined =>
  NAMES.find((name) => recipient.endsWith(`@${domainOf(name)}`));

export const expectedOf = (recipient: string): Expectation => {
  const name = destinationOf(recipient);
  return (name && behaviorOf(name).expected) ?? "arrives";
};

const slowMs = 1_500;
const initialFaults = 2;

/** The responses of the DNS server of this simulated Internet. */
export const answerDns: DnsScript = (question, nth) => {
  const { name, type } = question;
  const destination = NAMES.find((one) => name === domainOf(one) || name.endsWith(`.${domainOf(one)}`));
  if (!destination || name.startsWith("_")) return null;
  const { dns } = behaviorOf(destination);
  if (dns === "no such name") return null;
  if (dns === "fails at first" && type === "MX" && nth <= initialFaults) return { rcode: "SERVFAIL" };
  const reply: DnsReply = {
    answers: type === "MX" ? exchanges(destination, dns) : addressRecords(question, hosts(destination, name)),
  };
  if (dns === "slow") return { ...reply, afterMs: slowMs };
  return dns === "by TCP" ? { ...reply, isTruncated: true } : reply;
};

function exchanges(destination: Destination, dns: Behavior["dns"]): Answer[] {
  const name = domainOf(destination);
  const mx = (preference: number, exchange: string): Answer => ({
    name,
    type: "MX",
    ttl: 0,
    data: { preference, exchange },
  });
  if (dns === "no MX") return [];
  if (dns === "null MX") return [mx(0, ".")];
  if (dns === "two servers") return [mx(5, `closed.${name}`), mx(10, `mx.${name}`)];
  return [mx(10, `mx.${name}`)];
}

function hosts(destination: Destination, name: string): string[] {
  if (name.startsWith("closed.")) return [closedAddress];
  return [behaviorOf(destination).dns === "inside" ? "10.0.0.1" : addressOf(destination)];
}
