import { z } from "zod";
import { EMAIL_STATUSES } from "#db/schema/emails";
import type { EmailFilter } from "#server/services/emails/filter";
import { readSearch } from "./email-search";

const hourMs = 3_600_000;
/** Spans of time that end now, by the name they have in a page's address. */
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

/** What a list of mails can be narrowed by, as the console asks for it. */
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

const Filter = z.object(FILTER);
type FilterInput = z.output<typeof Filter>;

/** The same for the services, at that moment. What the search says yields to what a field of its own says. */
export function filterOf(input: FilterInput, now: Date): EmailFilter {
  const { search, status, recipient, subject, key, domain, within, since, until } = input;
  return {
    ...(search ? readSearch(search) : {}),
    ...(status && { status }),
    ...(recipient && { recipient }),
    ...(subject && { subject }),
    ...(key && { apiKeyId: key }),
    ...(domain && { domain }),
    ...(within && { since: new Date(now.getTime() - WITHIN_MS[within]) }),
    ...(since && { since: new Date(since) }),
    ...(until && { until: new Date(until) }),
  };
}
