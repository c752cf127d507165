import { z } from "zod";
import { parseMailbox } from "#server/mail/address";
import { checkHeader } from "#server/mail/headers";

export const recipientsPerFieldMax = 50;
const subjectCharsMax = 2_000;
const tagsMax = 75;
const headersMax = 50;

/** `null`, `""` and `[]` say the same as leaving a field out: clients of the dialect send all of them. */
export const absent = (value: unknown): unknown =>
  value === null || value === "" || (Array.isArray(value) && value.length === 0) ? undefined : value;

/** An optional field in that sense. */
export const optional = <T extends z.ZodType>(schema: T) => z.preprocess(absent, schema.optional());

/** One mailbox, `ann@example.com` or `Ann <ann@example.com>`, by the strict grammar of `mail/address`. */
export const MailboxText = z.string("Give one mailbox as a string.").transform((text, refine) => {
  const read = parseMailbox(text);
  if (read.ok) return read.mailbox;
  refine.addIssue({ code: "custom", message: read.fault });
  return z.NEVER;
});

/** One string is one mailbox; several come as an array. */
export const MailboxList = z.preprocess(
  (value) => (typeof value === "string" ? [value] : value),
  z
    .array(MailboxText, "Give one mailbox as a string, or several as an array of strings.")
    .max(recipientsPerFieldMax, `At most ${recipientsPerFieldMax} addresses.`),
);

export const Subject = z
  .string("Must be a string.")
  .max(subjectCharsMax, `At most ${subjectCharsMax} characters.`)
  .regex(/^[^\p{Cc}]*$/u, "Must not contain line breaks or other control characters.");

const TAG_WORD = /^[A-Za-z0-9_-]{1,256}$/;
const TagWord = z.string("Must be a string.").regex(TAG_WORD, "Use 1 to 256 letters, digits, _ or -.");
export const Tags = z
  .array(z.strictObject({ name: TagWord, value: TagWord }), "Must be an array of { name, value }.")
  .max(tagsMax, `At most ${tagsMax} tags.`);

/** Header names and values that a caller may set; what the service itself writes is refused by name. */
export const Headers = z
  .record(z.string(), z.string("Header values must be strings."), "Must be an object of strings.")
  .transform((headers, refine) => {
    const list = Object.entries(headers).map(([name, value]) => ({ name, value }));
    if (list.length > headersMax)
      refine.addIssue({ code: "custom", message: `At most ${headersMax} headers.` });
    for (const { name, value } of list) {
      const fault = checkHeader(name, value);
      if (fault) refine.addIssue({ code: "custom", message: fault, path: [name] });
    }
    return list;
  });

export const TemplateUse = z.strictObject({
  id: z.string("Must be the template's id or alias.").min(1, "Must be the template's id or alias.").max(200),
  variables: optional(
    z.record(
      z.string(),
      z.union(
        [z.string().max(2_000, "At most 2,000 characters."), z.number()],
        "Must be a string or a number.",
      ),
    ),
  ),
});
