import { z } from "zod";
import { EMAIL_STATUSES } from "#db/schema/emails";
import type { EmailFilter } from "#server/services/emails/read/filter";
import { readSearch } from "./search";

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

/** Filters of the email list, as the console sends them. */
export const FILTER = {
  /** An id, an address, `tag:name=value`, words of the subject, or several of them. */
  search: z.string().trim().max(320).optional(),
  status: z.enum(EMAIL_STATUSES).optional(),
  recipient: Address,
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
  const { search, status, recipient, subject, key, domain, within, since, until } = input;
  const own: EmailFilter = {
    status,
    recipient,
    subject,
    apiKeyId: key,
    domain,
    since: since ? new Date(since) : within && new Date(now.getTime() - WITHIN_MS[within]),
    until: until ? new Date(until) : undefined,
  };
  const isSet = ([, value]: [string, unknown]) => value !== undefined && value !== "";
  return { ...(search ? readSearch(search) : {}), ...Object.fromEntries(Object.entries(own).filter(isSet)) };
}
