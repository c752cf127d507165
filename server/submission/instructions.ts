import libmime from "libmime";
import type { z } from "zod";
import type { Tag } from "#db/schema/emails";
import { parseValue, type RawField } from "#server/mail/mime/raw/fields";
import { AppError } from "#server/platform/errors";
import { isIdempotencyKey, keyLengthMax } from "#server/services/emails/accept/idempotency";
import { ScheduledAt, Tags, TemplateUse } from "#server/services/emails/accept/message-input";
import { type NewEmail, optionsOfFields } from "#server/services/emails/accept/send";
import { EMAIL_OPTION_FIELDS } from "#server/shared/wire/email";

/**
 * The meaning of each header, by lower-case name. Several names with one meaning come from services that
 * programs used before.
 */
const MEANINGS: Record<string, string> = {
  "x-backstamp-tag": "tag",
  "x-ses-message-tags": "tag",
  "x-pm-tag": "label",
  "x-backstamp-idempotency-key": "idempotencyKey",
  "resend-idempotency-key": "idempotencyKey",
  "x-backstamp-template": "template",
  "x-backstamp-template-variables": "variables",
  "x-backstamp-scheduled-at": "scheduledAt",
  // Each option has the name of its field: `x-backstamp-list-unsubscribe`.
  ...Object.fromEntries(
    Object.keys(EMAIL_OPTION_FIELDS).map((field) => [`x-backstamp-${field.replaceAll("_", "-")}`, field]),
  ),
};

const METADATA = /^x-pm-metadata-(.+)$/;
const OWN_NAMES = Object.keys(MEANINGS).filter((name) => name.startsWith("x-backstamp-"));

/** The meaning of a header field for Backstamp; null for a field of the message itself. */
function meaningOf(name: string): string | null {
  if (Object.hasOwn(MEANINGS, name)) return MEANINGS[name] ?? null;
  if (METADATA.test(name)) return "metadata";
  return name.startsWith("x-backstamp-") ? "unknown" : null;
}

export const isInstruction = ({ name }: RawField): boolean => meaningOf(name) !== null;

/** The value of an option as in JSON: `true`, `false`, `list=Product news` or a word. */
function parseOption(text: string): unknown {
  if (text === "true" || text === "false") return text === "true";
  return text.startsWith("list=") ? { list: text.slice("list=".length) } : text;
}

/**
 * Reads what the headers of a message ask for; all of them are removed from the message. 422 if one is
 * invalid: the message would not be sent as it was meant.
 */
export function parseInstructions(fields: readonly RawField[]) {
  const given = fields.flatMap((field) => {
    const meaning = meaningOf(field.name);
    return meaning === null
      ? []
      : [{ meaning, name: field.name, value: libmime.decodeWords(parseValue(field)) }];
  });
  const stray = given.find(({ meaning }) => meaning === "unknown");
  if (stray)
    throw new AppError("invalid", `Unknown header ${stray.name}. The headers are ${OWN_NAMES.join(", ")}.`);
  const one = (meaning: string) => {
    const [first, second] = given.filter((field) => field.meaning === meaning);
    if (second) throw new AppError("invalid", `The header ${second.name} is set more than once.`);
    return first && first.value !== "" ? first : null;
  };
  const tags = given.flatMap(({ meaning, name, value }) => {
    if (meaning === "tag") return value.split(",").map((pair) => readTag(name, pair));
    if (meaning === "label") return [{ name: "tag", value: toTagWord(value) }];
    if (meaning === "metadata")
      return [{ name: toTagWord(METADATA.exec(name)?.[1] ?? ""), value: toTagWord(value) }];
    return [];
  });
  const [key, scheduledAt] = [one("idempotencyKey"), one("scheduledAt")];
  if (key && !isIdempotencyKey(key.value))
    throw new AppError("invalid", `${key.name} must have 1 to ${keyLengthMax} printable ASCII characters.`);
  const options = Object.entries(EMAIL_OPTION_FIELDS).flatMap(([field, schema]) => {
    const option = one(field);
    return option ? [[field, check(option.name, schema, parseOption(option.value))]] : [];
  });
  return {
    ...optionsOfFields({ ...Object.fromEntries(options), tags: check("x-backstamp-tag", Tags, tags) }),
    template: readTemplate(one("template"), one("variables")),
    scheduledAt: scheduledAt && check(scheduledAt.name, ScheduledAt, scheduledAt.value),
    idempotencyKey: key?.value ?? null,
  };
}

type Given = { name: string; value: string } | null;

function readTemplate(template: Given, variables: Given): NewEmail["template"] {
  if (!template) {
    if (variables) throw new AppError("invalid", `${variables.name} needs the header x-backstamp-template.`);
    return null;
  }
  let values: unknown;
  try {
    values = variables ? JSON.parse(variables.value) : undefined;
  } catch {
    throw new AppError("invalid", 'x-backstamp-template-variables must be a JSON object: {"NAME":"Ann"}.');
  }
  const use = check(template.name, TemplateUse, { id: template.value, variables: values });
  return { id: use.id, variables: use.variables ?? {} };
}

function readTag(header: string, pair: string): Tag {
  const [, name, value] = /^ *([^=: ]+) *[:=] *([^=: ]+) *$/.exec(pair) ?? [];
  if (name === undefined || value === undefined)
    throw new AppError("invalid", `${header} must be name:value, or several of them separated by commas.`);
  return { name, value };
}

/** Other services allow any text; a tag has letters, digits, underscores and hyphens. */
const toTagWord = (text: string): string => text.replace(/[^A-Za-z0-9_-]+/g, "_").slice(0, 256) || "_";

function check<T extends z.ZodType>(header: string, schema: T, value: unknown): z.output<T> {
  const read = schema.safeParse(value);
  if (read.success) return read.data;
  throw new AppError("invalid", `${header}: ${read.error.issues[0]?.message ?? "Invalid."}`);
}
