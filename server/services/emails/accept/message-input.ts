import { z } from "zod";
import { type Mailbox, parseMailbox } from "#server/mail/address/address";
import { checkHeaders, checkHeaderText } from "#server/mail/mime/headers";

export const recipientsPerFieldMax = 50;
const subjectCharsMax = 2_000;
const tagsMax = 75;
const headersMax = 50;
const variableCharsMax = 2_000;

/** `null`, `""` and `[]` mean the same as an omitted field: Resend's SDKs send all of them. */
export const absent = (value: unknown): unknown =>
  value === null || value === "" || (Array.isArray(value) && value.length === 0) ? undefined : value;

/** An optional field; `null`, `""` and `[]` count as absent. */
export const optional = <T extends z.ZodType>(schema: T) => z.preprocess(absent, schema.optional());

const MAILBOX = "Must be one mailbox as a string: ann@example.com or Ann <ann@example.com>.";
const MAILBOXES = "Must be one mailbox as a string, or several as an array of strings.";

/** One mailbox, `ann@example.com` or `Ann <ann@example.com>`, by the strict grammar of `mail/address`. */
export const MailboxText = z.string(MAILBOX).transform((text, refine): Mailbox => {
  const read = parseMailbox(text);
  if (read.ok) return read.mailbox;
  refine.addIssue({ code: "custom", message: read.fault });
  return z.NEVER;
});

/** A string is one mailbox; several are sent as an array. One invalid mailbox rejects the whole list. */
export const MailboxList = z
  .union([z.string(), z.array(z.string())], MAILBOXES)
  .transform((given, refine): Mailbox[] => {
    const texts = typeof given === "string" ? [given] : given;
    if (texts.length > recipientsPerFieldMax)
      refine.addIssue({
        code: "custom",
        message: `At most ${recipientsPerFieldMax} addresses. Send a second email to the others.`,
      });
    const mailboxes: Mailbox[] = [];
    for (const [index, text] of texts.slice(0, recipientsPerFieldMax).entries()) {
      const read = parseMailbox(text);
      if (read.ok) mailboxes.push(read.mailbox);
      else
        refine.addIssue({
          code: "custom",
          message: read.fault,
          path: typeof given === "string" ? [] : [index],
        });
    }
    return mailboxes;
  });

/** A subject: one line of text. */
export const Subject = z
  .string("Must be a string.")
  .max(subjectCharsMax, `At most ${subjectCharsMax} characters. Shorten it.`)
  .superRefine((text, refine) => {
    const fault = checkHeaderText("The subject", text);
    if (fault) refine.addIssue({ code: "custom", message: fault });
  });

const TagWord = z
  .string("Must be a string.")
  .regex(/^[A-Za-z0-9_-]{1,256}$/, "Use 1 to 256 letters, digits, underscores or hyphens.");
export const Tags = z
  .array(
    z.strictObject({ name: TagWord, value: TagWord }, 'Each tag must be { "name": …, "value": … }.'),
    'Must be an array of { "name": …, "value": … }.',
  )
  .max(tagsMax, `At most ${tagsMax} tags. Remove some.`);

/**
 * Header names and values that a caller may set. Headers that the service writes itself are rejected by name.
 */
export const Headers = z
  .record(
    z.string(),
    z.string("A header's value must be a string."),
    'Must be an object of names and values: { "X-Entity-Ref-ID": "123" }.',
  )
  .transform((headers, refine) => {
    const list = Object.entries(headers).map(([name, value]) => ({ name, value }));
    const fault =
      list.length > headersMax
        ? `At most ${headersMax} headers. Remove some.`
        : checkHeaders(list.map(({ name, value }) => [name, value]));
    if (fault) refine.addIssue({ code: "custom", message: fault });
    return list;
  });

const VARIABLE_TYPES = "Must be a string or a number.";

/** A value for a placeholder. Numbers must survive JSON unchanged. */
export const VariableValue = z
  .custom<string | number>((value) => typeof value === "string" || typeof value === "number", VARIABLE_TYPES)
  .superRefine((value, refine) => {
    if (typeof value === "string" && value.length > variableCharsMax)
      refine.addIssue({ code: "custom", message: `At most ${variableCharsMax} characters. Shorten it.` });
    if (typeof value === "number" && Math.abs(value) > Number.MAX_SAFE_INTEGER)
      refine.addIssue({
        code: "custom",
        message: "A number of this size loses precision. Send it as a string.",
      });
  })
  .meta({ type: ["string", "number"] });

/** Values for placeholders, keyed by name. */
export const TemplateValues = z.record(
  z.string(),
  VariableValue,
  'Must be an object of names and values: { "NAME": "Ann" }.',
);

export const TemplateUse = z.strictObject(
  {
    id: z
      .string("Must be the template's id or alias.")
      .min(1, "Must be the template's id or alias.")
      .max(100, "Must be the template's id or alias."),
    variables: optional(TemplateValues),
  },
  'Must be an object: { "id": …, "variables": { … } }.',
);

/** When an email is sent: ISO 8601 or English words, relative to the time of the request. */
export const ScheduledAt = z
  .string("Must be a time, in ISO 8601 or in words.")
  .max(100, "At most 100 characters.");
