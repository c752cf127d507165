import type { HotSql } from "#db/client";
import { isDatabaseAway } from "#db/faults";
import type { Outcome } from "#server/mail/outcome";
import type { Transport } from "#server/mail/transport/transport";

const REPLY = { code: 250, enhanced: "2.0.0", text: "Kept in the database, delivered to nobody" };

/**
 * The transport for trying things out: keeps the bytes of a mail in PostgreSQL, once, and delivers to nobody. A repeated
 * attempt finds them there already.
 */
export function createCapture(hot: HotSql): Transport {
  return {
    name: "capture",
    async deliver(message, recipients) {
      const all = (outcome: Omit<Outcome, "recipient">): Outcome[] =>
        recipients.map((recipient) => ({ recipient, ...outcome }));
      try {
        await hot`
          insert into captured_messages (team_id, email_id, raw)
          select team_id, id, ${message.bytes} from emails where id = ${message.id}
          on conflict do nothing`;
      } catch (error) {
        const reason = isDatabaseAway(error) ? "The database was away." : "The message could not be kept.";
        return all({ kind: "deferred", reply: null, host: "capture", reason });
      }
      return all({
        kind: "accepted",
        reply: REPLY,
        host: "capture",
        reason: "Captured: shown here, sent to nobody.",
      });
    },
    close: async () => {},
  };
}
