import { z } from "zod";
import { type Mailbox, parseMailbox } from "#server/mail/address/address";
import { checkHeaderText } from "#server/mail/mime/headers";

export const recipientsPerFieldMax = 50;
const subjectCharsMax = 2_000;

/** `null`, `""` and `[]` mean the same as an omitted field: Resend's SDKs send all of them. */
export const absent = (value: unknown): unknown =>
  value === null || value === "" || (Array.isArray(value) && value.length === 0) ? undefined : value;

/** An optional field; `null`, `""` and `[]` count as absent. */
export const optional = <T extends z.ZodType>(schema: T) => z.preprocess(absent, schema.optional());

/** The same for each of these fields. */
export const optionalFields = <Fields extends Record<string, z.ZodType>>(fields: Fields) =>
  Object.fromEntries(Object.entries(fields).map(([name, schema]) => [name, optional(schema)])) as {
    [Name in keyof Fields]: ReturnType<typeof optional<Fields[Name]>>;
  };

const MAILBOX = "Must be one mailbox as a string: ann@example.com or Ann <ann@example.com>.";
const MAILBOXES = "Must be one mailbox as a string, or several as an array of strings.";

/** One mailbox, `ann@example.com` or `Ann <ann@example.com>`, by the strict grammar of `mail/address`. */
export const MailboxText = z.string(MAILBOX).transform((text, refine): Mailbox => {
  const read = parseMailbox(text);
  if (read.ok) return read.mailbox;
  refine.addIssue(read.fault);
  return z.NEVER;
});

/** A string is one mailbox; several are sent as an array. One invalid mailbox rejects the whole list. */
export const MailboxList = z
  .union([z.string(), z.array(z.string())], MAILBOXES)
  .transform((given, refine): Mailbox[] => {
    const texts = typeof given === "string" ? [given] : given;
    if (texts.length > recipientsPerFieldMax)
      refine.addIssue(`At most ${recipientsPerFieldMax} addresses. Send a second email to the others.`);
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
    if (fault) refine.addIssue(fault);
  });
