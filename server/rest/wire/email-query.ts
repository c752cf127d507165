import { z } from "zod";
import { EMAIL_STATUSES } from "#db/schema/emails";
import { AppError } from "#server/errors";
import { isId } from "#server/ids";
import { parseMailbox, readDomainName } from "#server/mail/address";
import type { EmailFilter } from "#server/services/emails/filter";
import type { PageQuery } from "#server/services/paging";
import { PAGING, refuseTwoCursors } from "../query";

/** A bare address, in the form in which it is kept. */
const Address = z.string().transform((text, refine) => {
  const read = parseMailbox(text);
  if (read.ok) return read.mailbox.address;
  refine.addIssue({ code: "custom", message: read.fault });
  return z.NEVER;
});

const Domain = z.string().transform((text, refine) => {
  const read = readDomainName(text);
  if (read.ok) return read.domain;
  refine.addIssue({ code: "custom", message: read.fault });
  return z.NEVER;
});

const TIME = "Must be an ISO 8601 time with zone, such as 2026-01-31T09:00:00Z.";
const timeMin = Date.UTC(1970, 0, 1);
const timeMax = Date.UTC(9999, 0, 1);

const Time = z.iso
  .datetime({ offset: true, message: TIME })
  .transform((text) => new Date(text))
  .refine((time) => time.getTime() >= timeMin && time.getTime() < timeMax, "Must lie between 1970 and 9998.");

const Tag = z
  .string()
  .regex(
    /^[A-Za-z0-9_-]{1,256}(:[A-Za-z0-9_-]{1,256})?$/,
    "Must be name or name:value, as the tag was given.",
  )
  .transform((text) => {
    const [name = "", value] = text.split(":");
    return value === undefined ? { name } : { name, value };
  });

/** The filters of mails, as a query and as a body have them. */
export const EMAIL_FILTER = {
  status: z.enum(EMAIL_STATUSES, `Must be one of ${EMAIL_STATUSES.join(", ")}.`).optional(),
  recipient: Address.optional().describe("The exact address of a recipient."),
  to: Address.optional().describe("The same as `recipient`."),
  sender: Address.optional().describe("The exact address of the sender."),
  from: Address.optional().describe("The same as `sender`."),
  subject: z
    .string()
    .max(200, "At most 200 characters: a part of the subject is enough.")
    .optional()
    .describe("A part of the subject, in any letter case."),
  tag: Tag.optional().describe("`name` or `name:value`, as the tag was given."),
  key: z
    .string()
    .refine(isId, "Must be the id of an API key, as `key list` shows it.")
    .optional()
    .describe("The id of an API key."),
  domain: Domain.optional().describe("The domain of the sender."),
  since: Time.optional(),
  until: Time.optional(),
};
const Filter = z.strictObject(EMAIL_FILTER);

/** Wire names to the service's. */
export function emailFilterOf(query: z.output<typeof Filter>): EmailFilter {
  const { status, subject, tag, key, domain, since, until } = query;
  const recipient = oneOf("recipient", query.recipient, "to", query.to);
  const sender = oneOf("sender", query.sender, "from", query.from);
  return { status, recipient, sender, subject, tag, apiKeyId: key, domain, since, until };
}

/** The query of `GET /api/emails`. */
export const EmailListQuery = z
  .strictObject({ ...PAGING, ...EMAIL_FILTER })
  .transform((query): PageQuery & EmailFilter => {
    const { limit, after, before, ...filter } = query;
    refuseTwoCursors(query);
    return { limit, after, before, ...emailFilterOf(filter) };
  });

/** Two names for one filter. */
function oneOf<T>(name: string, value: T | undefined, alias: string, aliased: T | undefined): T | undefined {
  if (value !== undefined && aliased !== undefined)
    throw new AppError("invalid", `\`${name}\` and \`${alias}\` are the same filter. Give one of them.`);
  return value ?? aliased;
}
