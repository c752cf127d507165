import { ERASED_DOMAIN } from "#db/schema/audit";
import type { DeliveryKey } from "#db/schema/deliveries";
import type { ReturnKind } from "#db/schema/events";
import type { Deps } from "#server/deps";
import type { Report } from "#server/mail/bounce/report";
import { firstIdAt, newId, timeOfId } from "#server/platform/ids";
import { hourMs } from "#server/shared/durations";
import { foldAddress } from "#server/shared/text/fold-address";
import { lockEmails } from "../../emails/status";
import { findByToken } from "../find";
import {
  hasCopyField,
  hashOf,
  isOfProgram,
  parseReturnedHeader,
  type ReturnedHeader,
} from "./returned-message";

/**
 * Copies of bounces, and of replies, of one team in an hour. The last one says so. What comes after it is not
 * copied, and logged.
 */
export const copiesPerHourMax = 100;

/** How long a copy is tried (RFC 5321 section 4.5.4.1), in days. */
const triedDays = 4;

/** The first id of the hour that ends with this one. */
export const hourBefore = (id: string): string => firstIdAt(new Date(timeOfId(id).getTime() - hourMs));

type Message = { bytes: Uint8Array; recipients: readonly string[] };
type QueueDeps = Pick<Deps, "hot" | "log" | "wake" | "recipientTokens">;

/**
 * Queues the copies of a bounce or of a person's reply for the mailboxes of the teams to whose return paths
 * it came: at most one for each delivery, also if it is received again. Resolves after the commit. Delays,
 * complaints and automatic replies are not copied. Neither is a copy that comes back, a message of the
 * mailbox itself, nor a bounce about it.
 */
export async function queueCopies(deps: QueueDeps, report: Report, message: Message): Promise<void> {
  const { bytes, recipients } = message;
  const isBounce = report.kind === "delivery" && report.reported.some(({ action }) => action === "failed");
  if ((!isBounce && report.kind !== "other") || hasCopyField(bytes)) return;
  const header = parseReturnedHeader(bytes);
  if (!isBounce && isOfProgram(header)) return;
  const named = isBounce ? report.about.returnPaths : [];
  for (const address of new Set([...recipients, ...named])) {
    const delivery = await findByToken(deps, {
      returnPaths: [address],
      feedbackId: null,
      unsubscribeLinks: [],
    });
    if (delivery === null || delivery === "deleted") continue;
    await queueCopy(deps, delivery, { kind: isBounce ? "bounce" : "reply", bytes, header });
  }
}

type Copied = { kind: ReturnKind; bytes: Uint8Array; header: ReturnedHeader };

async function queueCopy(
  { hot, log, wake }: QueueDeps,
  { teamId, emailId, id: deliveryId }: DeliveryKey,
  { kind, bytes, header }: Copied,
): Promise<void> {
  const id = newId();
  const result = await hot.begin(async (tx) => {
    await lockEmails(tx, [{ teamId, emailId }]);
    const column = tx(kind === "bounce" ? "bounce_copies_to" : "reply_copies_to");
    const [found] = await tx<{ mailbox: string | null; recipient: string }[]>`
      select coalesce(d.${column}, t.${column}) as mailbox, x.address as recipient
      from emails e join teams t on t.id = e.team_id
        join deliveries x on x.team_id = e.team_id and x.email_id = e.id and x.id = ${deliveryId}
        left join domains d on d.team_id = e.team_id and d.name = e.sender_domain
      where e.team_id = ${teamId} and e.id = ${emailId} and x.domain <> ${ERASED_DOMAIN}`;
    if (!found?.mailbox) return null;
    const { mailbox, recipient } = found;
    const concerned = kind === "bounce" ? [recipient] : header.authors;
    if (concerned.some((address) => foldAddress(address) === foldAddress(mailbox))) return null;
    const messageHash = hashOf(bytes, header);
    // After the email, so that it is always taken in this order.
    await tx`select pg_advisory_xact_lock(hashtextextended(${`return copies ${teamId}`}, 0))`;
    const [before] = await tx<{ copies: number; isRepeated: boolean }[]>`
      select (select count(*)::int from return_copies
          where team_id = ${teamId} and id > ${hourBefore(id)} and kind = ${kind}) as copies,
        exists (select from return_copies where team_id = ${teamId} and email_id = ${emailId}
          and delivery_id = ${deliveryId} and message_hash = ${messageHash}) as "isRepeated"`;
    if (before?.isRepeated) return null;
    if ((before?.copies ?? 0) >= copiesPerHourMax) return "over_limit";
    await tx`
      insert into return_copies (id, team_id, email_id, delivery_id, kind, message_hash, message, recipient, expires_at)
      values (${id}, ${teamId}, ${emailId}, ${deliveryId}, ${kind}, ${messageHash}, ${bytes}, ${mailbox},
        now() + ${triedDays} * interval '1 day')`;
    return "queued";
  });
  if (result === null) return;
  const about = { teamId, emailId, deliveryId, kind };
  if (result === "over_limit") return log.warn("return.copy_over_limit", about);
  log.info("return.copy_queued", about);
  wake();
}
