import { type AddressVerdict, isAddressVerdict, type ProviderEvent } from "./callback";
import {
  parseHost,
  parseId,
  parseMessageId,
  parseRejection,
  parseReply,
  parseTime,
  replyFromText,
} from "./provider-fields";

/**
 * What an event of this type means: its kind, or for a bounce what the provider says about the address. Null
 * if it does not concern a delivery.
 */
export type Meaning = ProviderEvent["kind"] | AddressVerdict | null;

/** Reads a text or number of an event by its path, else null. `*` is the only field of an object. */
export type Get = (path: string) => string | null;

/** The texts of an event that a report needs, as the provider writes them. */
export type Fields = {
  type: string | null;
  /** If absent, the event is identified by its other fields. */
  id?: string | null;
  recipient: string | null;
  /** If absent, the provider identifies the email by its Message-ID. */
  providerId?: string | null;
  messageId?: string | null;
  at: string | null;
  /** The reply of the server, or what the provider says instead. */
  text?: string | null;
  /** The basic and the enhanced code of the reply, if the provider reports them apart. */
  code?: string | null;
  enhanced?: string | null;
  host?: string | null;
  lists?: (string | null)[];
};

/** How the events of one provider are read. */
export type Description = {
  fields(get: Get, event: unknown): Fields;
  /** By type. The types of a provider that are not listed mean nothing here. */
  meanings: Readonly<Record<string, Meaning | ((get: Get, text: string) => Meaning)>>;
};

/** Far more than a provider sends in one call. */
const eventsMax = 10_000;

/**
 * Reads the events of a callback: one, or a list of them. Those without a meaning here, and those that name
 * no email, are left out.
 */
export function readEvents({ fields, meanings }: Description, payload: unknown): ProviderEvent[] {
  const events: unknown[] = Array.isArray(payload) ? payload.slice(0, eventsMax) : [payload];
  return events.flatMap((event): ProviderEvent[] => {
    const get: Get = (path) => textAt(event, path);
    const { type, recipient, lists = [], ...given } = fields(get, event);
    const found = type !== null && Object.hasOwn(meanings, type) ? meanings[type] : null;
    const text = given.text?.trim() ?? "";
    const meaning = typeof found === "function" ? found(get, text) : found;
    const messageId = parseMessageId(given.messageId);
    const providerId = given.providerId === undefined ? messageId : parseId(given.providerId);
    if (!meaning || (providerId === null && messageId === null)) return [];
    return [
      {
        id: given.id ?? `${type} ${providerId ?? messageId} ${recipient} ${given.at}`,
        ...(isAddressVerdict(meaning) ? { kind: "bounced", verdict: meaning } : { kind: meaning }),
        ...(meaning === "unsubscribed" && { lists: lists.filter((list) => list !== null) }),
        recipients: recipient === null ? [] : [recipient],
        providerId,
        messageId,
        reply: readReply(meaning, text, given),
        host: parseHost(given.host),
        appliesToAllRecipients: true,
        at: parseTime(given.at),
      },
    ];
  });
}

function readReply(meaning: NonNullable<Meaning>, text: string, { code, enhanced }: Partial<Fields>) {
  // The provider says this itself; no server replied.
  if (meaning === "failed" || meaning.startsWith("listed")) return replyFromText(text);
  const isApart = code != null && /^[2-5]\d\d$/.test(code) && !text.startsWith(code);
  const reply = isApart ? `${code} ${text}` : text;
  return meaning === "delivered" ? parseReply(reply) : parseRejection(reply, enhanced);
}

const textCharsMax = 20_000;

function textAt(event: unknown, path: string): string | null {
  let value = event;
  for (const name of path.split(".")) {
    if (typeof value !== "object" || value === null) return null;
    const [only, ...others] = name === "*" ? Object.keys(value) : [name];
    if (only === undefined || others.length > 0 || !Object.hasOwn(value, only)) return null;
    value = (value as Record<string, unknown>)[only];
  }
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  return typeof value === "string" && value !== "" && value.length <= textCharsMax ? value : null;
}
