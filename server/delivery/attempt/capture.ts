import type { HotSql } from "#db/client";
import { isDatabaseUnreachable } from "#db/faults";
import { setOutcome } from "#server/mail/transport/judge";
import { addressesOf, type Transport } from "#server/mail/transport/transport";

const REPLY = { code: 250, enhanced: "2.0.0", text: "Stored in the database, not sent" };

/**
 * The transport for development: stores the bytes of each email in PostgreSQL and sends nothing. A repeated
 * attempt keeps the bytes of the first one.
 */
export function createCapture(hot: HotSql): Transport {
  return {
    name: "capture",
    async deliver(message, recipients) {
      const addresses = addressesOf(recipients);
      try {
        await hot`
          insert into captured_messages (team_id, email_id, raw)
          select team_id, id, ${message.bytes} from emails where id = ${message.id} for key share
          on conflict do nothing`;
      } catch (error) {
        const reason = isDatabaseUnreachable(error)
          ? "The database was unavailable."
          : "The message could not be stored.";
        return setOutcome(addresses, { kind: "deferred", host: "capture", reason });
      }
      return setOutcome(addresses, {
        kind: "accepted",
        reply: REPLY,
        host: "capture",
        reason: "Captured: stored for viewing, not sent.",
      });
    },
    close: async () => {},
  };
}
