import { z } from "zod";
import { EMAIL_STATUSES, type EmailStatus, ENGAGEMENTS } from "#db/schema/emails";
import { parseMailbox } from "#server/mail/address/address";
import { isId } from "#server/platform/ids";
import type { EmailFilter } from "#server/services/emails/read/filter";
import { parseTag } from "#server/shared/email-words";

const hourMs = 3_600_000;
/** Time ranges that end now, by their name in the page's URL. */
export const WITHIN_MS = {
  "1h": hourMs,
  "24h": 24 * hourMs,
  "7d": 168 * hourMs,
  "30d": 720 * hourMs,
} as const;
const WITHIN = Object.keys(WITHIN_MS) as (keyof typeof WITHIN_MS)[];

const Address = z
  .string()
  .trim()
  .max(320)
  .transform((text) => text || undefined)
  .optional();

const isStatus = (text: string): text is EmailStatus => EMAIL_STATUSES.some((status) => status === text);

/** One or several, separated by commas, as in the page's URL. */
const Statuses = z
  .string()
  .max(200)
  .transform((text, refine) => {
    const names = text.split(",");
    if (names.every(isStatus)) return [...new Set(names)];
    refine.addIssue(`Must be one or several of ${EMAIL_STATUSES.join(", ")}, separated by commas.`);
    return z.NEVER;
  });

/** Filters of the email list, as the console sends them. */
export const FILTER = {
  /** An id, an address, `tag:name:value`, words of the subject, or several of them. */
  search: z.string().trim().max(320).optional(),
  status: Statuses.optional(),
  recipient: Address,
  tag: z.string().trim().max(520).optional(),
  engagement: z.enum(ENGAGEMENTS).optional(),
  subject: Address,
  key: z.uuid().optional(),
  domain: z.string().trim().toLowerCase().max(253).optional(),
  within: z.enum(WITHIN as [keyof typeof WITHIN_MS]).optional(),
  since: z.iso.datetime({ offset: true }).optional(),
  until: z.iso.datetime({ offset: true }).optional(),
};

type FilterInput = z.output<z.ZodObject<typeof FILTER>>;

/**
 * The filter in the form of the services, at that time. A separate field overrides the same term in the
 * search.
 */
export function filterOf(input: FilterInput, now: Date): EmailFilter {
  const { search, status, recipient, tag, engagement, subject, key, domain, within, since, until } = input;
  const own: EmailFilter = {
    statuses: status,
    recipient,
    // No email has what is not a tag.
    tag: tag ? (parseTag(tag) ?? { name: tag }) : undefined,
    engagement,
    subject,
    apiKeyId: key,
    domain,
    since: since ? new Date(since) : within && new Date(now.getTime() - WITHIN_MS[within]),
    until: until ? new Date(until) : undefined,
    within: since ? undefined : within,
  };
  const isSet = ([, value]: [string, unknown]) => value !== undefined && value !== "";
  return { ...(search ? readSearch(search) : {}), ...Object.fromEntries(Object.entries(own).filter(isSet)) };
}

/** A tag after `tag:`, also as `name=value`. */
const TAG = /^tag:(.+)$/i;
const NAMED = /^(to|from):(.+)$/i;
/** The filters for an address and for `@` with a domain. */
const FIELDS = {
  any: { address: "address", domain: "address" },
  to: { address: "recipient", domain: "recipientDomain" },
  from: { address: "sender", domain: "domain" },
} as const;

/**
 * Parses the search field: an email id or Message-ID; a complete address, or `@` and a domain, of a recipient
 * or the sender, or of only one of them after `to:` or `from:`; `tag:` with `name` or `name:value`. Emails
 * match that have all other words, or words that begin with them, in their subject or recipients.
 */
export function readSearch(text: string): EmailFilter {
  const id = parseId(text.trim());
  if (id !== null) return { id };
  const filter: EmailFilter = {};
  const words = text
    .split(/\s+/)
    .filter((word) => word !== "" && !addTerm(filter, word))
    .join(" ");
  return words === "" ? filter : { ...filter, words };
}

/** The Message-ID of our emails starts with the email id. */
function parseId(text: string): string | null {
  const bare = text.replace(/^<|>$/g, "").split("@", 1)[0]?.toLowerCase() ?? "";
  return isId(bare) ? bare : null;
}

/**
 * Adds a word to the filter if it has a special meaning; only the first of each kind. Returns whether it was
 * added.
 */
function addTerm(filter: EmailFilter, word: string): boolean {
  const tag = parseTag(TAG.exec(word)?.[1]?.replace("=", ":") ?? "");
  if (tag !== null && filter.tag === undefined) {
    filter.tag = tag;
    return true;
  }
  const [, role = "any", rest = word] = NAMED.exec(word) ?? [];
  const fields = FIELDS[role.toLowerCase() as keyof typeof FIELDS];
  const isDomain = /^@[^@\s]+$/.test(rest);
  const read = parseMailbox(rest);
  const field = isDomain ? fields.domain : fields.address;
  if ((!isDomain && !read.ok) || filter[field] !== undefined) return false;
  const domain = rest.slice(1).toLowerCase();
  filter[field] = read.ok ? read.mailbox.address : field === "address" ? `@${domain}` : domain;
  return true;
}
