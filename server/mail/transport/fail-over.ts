import type { Outcome } from "../outcome";
import { deferAll } from "./judge";
import { type MailProvider, markLineFor, providerIdOf } from "./provider-id";
import type { DeliveryWatch, OutgoingMessage, Transport } from "./transport";
import { watchAttempt } from "./watch-attempt";

/** One of several relays that may take a message. */
export type OrderedRelay = {
  id: string;
  host: string;
  /** Whether it is given our signatures. */
  signs: boolean;
  provider: MailProvider | null;
  /** Why it must not be tried now, in a sentence; null where it may. */
  pause(): string | null;
  deliver: Transport["deliver"];
};

/**
 * Offers a message to relays in their order. The next one is asked only for recipients whom the one before surely did not
 * accept, and did not refuse for good either: an outcome that is unknown, as after a final dot that nobody answered, ends it.
 * Each gets the same bytes, in every attempt: those that are not to have our signatures get the message below them, and one
 * whose provider knows mail by a mark gets that above it.
 * What a relay said of a recipient counts more than a later relay's own fault. Never throws.
 */
export async function deliverInOrder(
  relays: readonly OrderedRelay[],
  message: OutgoingMessage,
  recipients: string[],
  watch: DeliveryWatch,
): Promise<Outcome[]> {
  const { signal, end } = watchAttempt(watch);
  const outcomes = new Map<string, Outcome>();
  let left = recipients;
  for (const relay of relays) {
    if (left.length === 0 || signal.aborted || !watch.stillMine()) break;
    const pause = relay.pause();
    const tried =
      pause === null
        ? await relay.deliver(bytesFor(relay, message), left, { ...watch, signal })
        : deferAll(left, relay.host, { alarm: "connect", reason: pause });
    for (const outcome of tried) {
      if (isOwnFault(outcome) && outcomes.get(outcome.recipient)?.reply) continue;
      outcomes.set(outcome.recipient, pause === null ? signed(relay, message, outcome) : outcome);
    }
    left = left.filter((recipient) => mayBeAskedElsewhere(outcomes.get(recipient)));
  }
  end();
  return recipients.map(
    (recipient) =>
      outcomes.get(recipient) ?? {
        recipient,
        kind: "deferred",
        reply: null,
        host: null,
        reason: "No relay was asked.",
      },
  );
}

/** Our own refusal, such as for a size that one server announces, says nothing of the next server. */
const mayBeAskedElsewhere = (outcome: Outcome | undefined): boolean =>
  outcome === undefined ||
  outcome.kind === "deferred" ||
  (outcome.kind === "rejected" && outcome.reply === null);

const isOwnFault = ({ kind, alarm }: Outcome): boolean => kind === "deferred" && alarm !== undefined;

function bytesFor({ signs, provider }: OrderedRelay, message: OutgoingMessage): OutgoingMessage {
  const { signatureBytes = 0, messageId } = message;
  const own =
    signs || signatureBytes === 0
      ? message
      : { ...message, bytes: message.bytes.subarray(signatureBytes), signatureBytes: 0 };
  const mark = markLineFor(provider, messageId);
  return mark === "" ? own : { ...own, bytes: Buffer.concat([Buffer.from(mark), own.bytes]) };
}

function signed({ id, provider }: OrderedRelay, { messageId }: OutgoingMessage, outcome: Outcome): Outcome {
  const providerId =
    provider !== null && outcome.kind === "accepted"
      ? providerIdOf(provider, outcome.reply, messageId)
      : null;
  return { ...outcome, relayId: id, ...(providerId === null ? {} : { providerId }) };
}
