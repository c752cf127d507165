import { z } from "zod";
import { EMAIL_STATUSES, ENGAGEMENTS } from "#db/schema/emails";
import { readDomainName } from "#server/mail/address/address";
import { AppError } from "#server/platform/errors";
import { isId } from "#server/platform/ids";
import { MailboxText } from "#server/services/emails/accept/message-input";
import type { EmailFilter } from "#server/services/emails/read/filter";
import type { PageQuery } from "#server/services/paging";
import { parseTag } from "#server/shared/email-words";
import { listQuery } from "../pipeline/query";

/** An address without a display name, normalized as it is stored. */
export const Address = MailboxText.transform(({ address }) => address);

const Domain = z.string().transform((text, refine) => {
  const read = readDomainName(text);
  if (read.ok) return read.domain;
  refine.addIssue(read.fault);
  return z.NEVER;
});

const TIME = "Must be an ISO 8601 time with zone, such as 2026-01-31T09:00:00Z.";
const timeMin = Date.UTC(1970, 0, 1);
const timeMax = Date.UTC(9999, 0, 1);

/** A time that PostgreSQL can store. */
export const TimeInput = z.iso
  .datetime({ offset: true, message: TIME })
  .transform((text) => new Date(text))
  .refine((time) => time.getTime() >= timeMin && time.getTime() < timeMax, "Must be between 1970 and 9998.");

const Tag = z.string().transform((text, refine) => {
  const tag = parseTag(text);
  if (tag) return tag;
  refine.addIssue("Must be name or name:value of a tag.");
  return z.NEVER;
});

/** The filters for emails, for a query and for a body. */
export const EMAIL_FILTER = {
  status: z
    .enum(EMAIL_STATUSES, `Must be one of ${EMAIL_STATUSES.join(", ")}.`)
    .optional()
    .describe("The status of the email, which is that of its worst recipient."),
  recipient: Address.optional().describe("The address of a recipient, in any letter case."),
  to: Address.optional().describe("The same as `recipient`."),
  recipient_domain: Domain.optional().describe("The domain of a recipient."),
  sender: Address.optional().describe("The address of the sender, in any letter case."),
  from: Address.optional().describe("The same as `sender`."),
  subject: z
    .string()
    .max(200, "Must have at most 200 characters. Some words of the subject are enough.")
    .optional()
    .describe("Words of the subject, or their beginnings, in any order and case: `invoice ready`."),
  tag: Tag.optional().describe("`name` or `name:value` of a tag."),
  engagement: z
    .enum(ENGAGEMENTS, `Must be one of ${ENGAGEMENTS.join(", ")}.`)
    .optional()
    .describe("What a recipient did: `opened` it, which includes clicks, or `clicked` a link."),
  key: z.string().refine(isId, "Must be the id of an API key.").optional().describe("The id of an API key."),
  domain: Domain.optional().describe("The domain of the sender."),
  since: TimeInput.optional().describe("The earliest time of creation."),
  until: TimeInput.optional().describe("The latest time of creation."),
};
const Filter = z.strictObject(EMAIL_FILTER);

/** Converts the filter from wire names to the names of the service. */
export function emailFilterOf(query: z.output<typeof Filter>): EmailFilter {
  const { status, subject, tag, engagement, key, domain, since, until } = query;
  const recipient = oneOf("recipient", query.recipient, "to", query.to);
  const sender = oneOf("sender", query.sender, "from", query.from);
  const { recipient_domain: recipientDomain } = query;
  const statuses = status && [status];
  const own = { subject, tag, engagement, apiKeyId: key, domain, since, until };
  return { statuses, recipient, recipientDomain, sender, ...own };
}

/** The query of `GET /api/emails`. */
export const EmailListQuery = listQuery(EMAIL_FILTER).transform(
  ({ limit, after, before, ...filter }): PageQuery & EmailFilter => ({
    limit,
    after,
    before,
    ...emailFilterOf(filter),
  }),
);

/** The value of a filter that has two names. */
function oneOf<T>(name: string, value: T | undefined, alias: string, aliased: T | undefined): T | undefined {
  if (value !== undefined && aliased !== undefined)
    throw new AppError("invalid", `\`${name}\` and \`${alias}\` are the same filter. Send only one of them.`);
  return value ?? aliased;
}
