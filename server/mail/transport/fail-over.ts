import type { Outcome } from "../outcome";
import { deferAll } from "./judge";
import { formatMetadataLine, type MailProvider, providerIdOf } from "./provider-id";
import {
  addressesOf,
  type DeliveryWatch,
  type OutgoingMessage,
  type Recipient,
  type Transport,
  watchAttempt,
} from "./transport";

/** One of several relays for a message. */
export type OrderedRelay = {
  /** Recorded with the outcomes; null for the relay of `SMTP_URL`. */
  id: string | null;
  host: string;
  /** Whether to send our DKIM signatures to this relay. */
  signs: boolean;
  provider: MailProvider | null;
  /** Why the relay is paused, as a sentence; null if it is not paused. */
  pause(): string | null;
  deliver: Transport["deliver"];
};

/**
 * Sends a message through relays in order. The next relay is used only for recipients that the previous one
 * certainly did not accept and did not permanently reject. An unknown outcome, such as no reply to the final
 * dot, ends the sequence. Every attempt sends the same bytes to the same relay: without the signature fields
 * if the relay must not receive them, and with a metadata line on top if the provider identifies emails by
 * one. A relay's reply about a recipient takes precedence over a fault of a later relay. Never throws.
 */
export async function deliverInOrder(
  relays: readonly OrderedRelay[],
  message: OutgoingMessage,
  recipients: readonly Recipient[],
  watch: DeliveryWatch,
): Promise<Outcome[]> {
  // A single relay limits the attempt itself.
  const { signal, end } = relays.length > 1 ? watchAttempt(watch) : { signal: watch.signal, end() {} };
  const outcomes = new Map<string, Outcome>();
  let left = recipients;
  for (const relay of relays) {
    if (left.length === 0 || signal?.aborted || !watch.isLeaseValid()) break;
    const pause = relay.pause();
    const tried =
      pause === null
        ? await relay.deliver(bytesFor(relay, message), left, { ...watch, signal })
        : deferAll(addressesOf(left), relay.host, { alarm: "connect", reason: pause });
    for (const outcome of tried) {
      if (isRelayFault(outcome) && outcomes.get(outcome.recipient)?.reply) continue;
      outcomes.set(outcome.recipient, pause === null ? addIds(relay, message, outcome) : outcome);
    }
    left = left.filter(({ address }) => canTryNext(outcomes.get(address)));
  }
  end();
  return recipients.flatMap(
    ({ address }) => outcomes.get(address) ?? deferAll([address], null, { reason: "No relay was tried." }),
  );
}

/** Our own rejection, such as for a server's announced size limit, does not apply to the next relay. */
const canTryNext = (outcome: Outcome | undefined): boolean =>
  outcome === undefined ||
  outcome.kind === "deferred" ||
  (outcome.kind === "rejected" && outcome.reply === null);

const isRelayFault = ({ kind, alarm }: Outcome): boolean => kind === "deferred" && alarm !== undefined;

function bytesFor({ signs, provider }: OrderedRelay, message: OutgoingMessage): OutgoingMessage {
  const line = formatMetadataLine(provider, message);
  if (signs && line === "") return message;
  const adapt = ({ bytes, signatureBytes = 0 }: Pick<OutgoingMessage, "bytes" | "signatureBytes">) => {
    const own = signs ? bytes : bytes.subarray(signatureBytes);
    return {
      bytes: line === "" ? own : Buffer.concat([Buffer.from(line), own]),
      signatureBytes: signs ? signatureBytes : 0,
    };
  };
  const { sevenBit } = message;
  return { ...message, ...adapt(message), ...(sevenBit && { sevenBit: adapt(sevenBit) }) };
}

function addIds({ id, provider }: OrderedRelay, message: OutgoingMessage, outcome: Outcome): Outcome {
  const isIdentified = provider !== null && outcome.kind === "accepted";
  const providerId = isIdentified ? providerIdOf(provider, outcome.reply, message) : null;
  return { ...outcome, relayId: id ?? undefined, providerId: providerId ?? undefined };
}
