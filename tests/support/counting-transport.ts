import type { Outcome } from "#server/mail/outcome";
import { addressesOf, type Transport } from "#server/mail/transport/transport";

/** A transport that accepts everything and records the recipients, in the order in which dialogues began. */
export type CountingTransport = { transport: Transport; handedOver: string[] };

export function createCountingTransport(
  name: Transport["name"],
  answer: (recipient: string) => Promise<Outcome> = async (recipient) => acceptedBy(recipient),
): CountingTransport {
  const handedOver: string[] = [];
  return {
    handedOver,
    transport: {
      name,
      deliver: (_message, recipients) => {
        handedOver.push(...addressesOf(recipients));
        return Promise.all(addressesOf(recipients).map(answer));
      },
      close: async () => {},
    },
  };
}

export const acceptedBy = (recipient: string): Outcome => ({
  recipient,
  kind: "accepted",
  reply: { code: 250, enhanced: null, text: "ok" },
  host: "mx.example.net",
  reason: "accepted",
});
