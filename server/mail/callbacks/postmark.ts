import { z } from "zod";
import { postmarkMark } from "../transport/provider-id";
import type { Scheme, Told } from "./callback";
import { idOf, refusalOf, replyOf, Said, timeOf, withCode } from "./said";
import { isSame } from "./same";

/** The user name of the basic authentication; its password is the secret. */
export const postmarkUser = "posthorn";

/** The header in which the secret may come instead. */
export const postmarkHeader = "x-callback-secret";

/** What a type of bounce is to us. The others are answers of machines and of people, or say nothing of this mail. */
const KINDS: Readonly<Record<string, Told["kind"]>> = {
  HardBounce: "bounced",
  SoftBounce: "bounced",
  Unknown: "bounced",
  SpamNotification: "bounced",
  VirusNotification: "bounced",
  BadEmailAddress: "bounced",
  ManuallyDeactivated: "bounced",
  Unconfirmed: "bounced",
  Blocked: "bounced",
  SMTPApiError: "bounced",
  DMARCPolicy: "bounced",
  Transient: "delayed",
  DnsError: "delayed",
  SpamComplaint: "complained",
};

/** Types that say as much as an enhanced code does. A hard bounce may have other causes than a dead address. */
const CODES: Readonly<Record<string, string>> = { BadEmailAddress: "5.1.3" };

const Event = z.object({
  RecordType: Said,
  ID: z.number().nullish().catch(null),
  Type: Said,
  MessageID: Said,
  Metadata: z
    .object({ [postmarkMark]: Said })
    .nullish()
    .catch(null),
  Email: Said,
  Recipient: Said,
  Details: Said,
  Description: Said,
  DeliveredAt: Said,
  BouncedAt: Said,
});

/**
 * Postmark signs nothing: its documentation ("Webhooks overview", under "Protecting your webhook") advises basic
 * authentication in the address, and its Webhooks API sends headers of one's own as well. Its calls bear no time that could be
 * trusted, so that one that was listened in on could come again; it would tell what was told before.
 */
export const postmark: Scheme = {
  verify({ header }, secret) {
    const [, basic] = /^Basic +([\w+/=-]{1,1024})$/i.exec(header("authorization") ?? "") ?? [];
    const given = basic === undefined ? null : Buffer.from(basic, "base64").toString();
    const isGiven = given !== null && isSame(given, `${postmarkUser}:${secret}`);
    return isGiven || isSame(header(postmarkHeader) ?? "", secret) ? "genuine" : "forged";
  },
  read(payload) {
    const read = Event.safeParse(payload);
    if (!read.success) return [];
    const { RecordType: record, ID: id, Type: type, MessageID: ownId, ...event } = read.data;
    // Its own id of a mail it tells in no SMTP reply, so mail of ours bears a mark.
    const providerId = idOf(event.Metadata?.[postmarkMark]) ?? idOf(ownId);
    if (providerId === null) return [];
    const about = { providerId, messageId: null, isSure: true } as const;
    if (record === "Delivery") {
      const { Recipient: recipient } = event;
      return [
        {
          ...about,
          id: `Delivery ${providerId} ${recipient}`,
          kind: "delivered",
          recipients: recipient ? [recipient] : [],
          reply: replyOf(event.Details),
          host: null,
          at: timeOf(event.DeliveredAt),
        },
      ];
    }
    const kind = Object.hasOwn(KINDS, type ?? "") ? KINDS[type ?? ""] : undefined;
    if ((record !== "Bounce" && record !== "SpamComplaint") || !kind || typeof id !== "number") return [];
    const code = Object.hasOwn(CODES, type ?? "") ? CODES[type ?? ""] : undefined;
    return [
      {
        ...about,
        id: `${record} ${id}`,
        kind,
        recipients: event.Email ? [event.Email] : [],
        reply: withCode(refusalOf(event.Details || event.Description, null), code),
        host: null,
        at: timeOf(event.BouncedAt),
      },
    ];
  },
};
