import { parseStoredMailbox } from "#server/mail/address/address";
import type { Outcome } from "#server/mail/outcome";
import { createRelay, type RelayOptions } from "#server/mail/transport/relay";
import { parseSmtpUrl, type SmtpTarget } from "#server/mail/transport/smtp-url";
import type { DeliveryWatch, OutgoingMessage, Transport } from "#server/mail/transport/transport";

/** The target of a URL; an invalid URL fails the test. */
export function targetOf(url: string): SmtpTarget {
  const parsed = parseSmtpUrl(url);
  if (!parsed.ok) throw new Error(parsed.fault);
  return parsed.target;
}

/** A relay to a test server on this machine, with short timeouts. */
export function relayTo(
  peer: { host: string; port: number },
  query = "",
  options: RelayOptions = {},
): Transport {
  return createRelay(targetOf(`smtp://${peer.host}:${peer.port}${query}`), options);
}

/** A small message with a unique id. */
export function message(overrides: Partial<OutgoingMessage> & { body?: string } = {}): OutgoingMessage {
  const id = overrides.id ?? "m1";
  const text = `From: a@example.com\r\nTo: b@example.com\r\nSubject: ${id}\r\nMessage-ID: <${id}@example.com>\r\n\r\n`;
  const bytes = Buffer.from(text + (overrides.body ?? "Hello.\r\n"));
  return { id, returnPath: "bounce@example.com", bytes, smtpUtf8: false, ...overrides };
}

/** Recipients as the database holds them. */
export const parsed = (addresses: readonly string[]) => addresses.map(parseStoredMailbox);

/** A watch with a valid lease and a distant deadline. */
export function watch(overrides: Partial<DeliveryWatch> = {}): DeliveryWatch {
  return { deadlineMs: 20_000, isLeaseValid: () => true, ...overrides };
}

/** The kinds of outcomes, in the order of the recipients. */
export function kinds(outcomes: readonly Outcome[]): string[] {
  return outcomes.map((outcome) => outcome.kind);
}
