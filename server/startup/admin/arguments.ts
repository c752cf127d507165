import { InvalidArgumentError } from "commander";
import { z } from "zod";
import { parseDomainName } from "#server/mail/address/address";
import { isId } from "#server/platform/ids";
import { ClientNetworks } from "#server/services/keys/key-input";
import { TIERS, type Tier } from "#server/shared/rate-limits";
import { parseScopes, SCOPE_PRESETS, SCOPES, type Scope } from "#server/shared/scopes";

/*
 * Argument parsers. Invalid text throws InvalidArgumentError; commander adds the argument's name and the
 * process ends with exit code 2.
 */

const nameCharsMax = 100;
const limitMax = 1_000_000;

/** Any text. What it must be is checked where it is used. */
export const asText = (text: string): string => text;

/** A parser of a schema of text, with what to enter instead. */
export const parserOf =
  <T>(schema: z.ZodType<T>, message: string) =>
  (text: string): T => {
    const { success, data } = schema.safeParse(text.trim());
    if (!success) throw new InvalidArgumentError(message);
    return data;
  };

/** One of these words. */
export const wordOf = <const Word extends string>(words: readonly Word[]) =>
  parserOf(
    z.string().refine((text): text is Word => words.some((word) => word === text)),
    `Enter one of: ${words.join(", ")}.`,
  );

/** A whole number of this range. */
export function numberOf(min: number, max: number): (text: string) => number {
  const schema = z.string().regex(/^\d+$/).transform(Number).pipe(z.number().min(min).max(max));
  return parserOf(schema, `Enter a whole number from ${min} to ${max}.`);
}

/** The value of another parser, or null for a word such as `none`. */
export const orWord =
  <T>(word: string, parse: (text: string) => T) =>
  (text: string): T | null => {
    if (text.trim() === word) return null;
    try {
      return parse(text);
    } catch (error) {
      if (error instanceof InvalidArgumentError) error.message += ` Or enter ${word}.`;
      throw error;
    }
  };

export const asName = parserOf(
  z
    .string()
    .min(1)
    .max(nameCharsMax)
    .regex(/^\P{Cc}*$/u),
  `Enter a name of 1 to ${nameCharsMax} characters on one line.`,
);

export const asId = parserOf(
  z.string().refine(isId).toLowerCase(),
  "Enter an id, such as 0198c5a2-6f0e-7cc3-a5b1-94e1f3b7c1d2.",
);

export const asTime = parserOf(
  z.union([z.iso.datetime({ offset: true }), z.iso.date()]).transform((text) => new Date(text)),
  "Enter a date, or a time with its time zone: 2030-01-31, 2030-01-31T12:00:00Z or 2030-01-31T12:00:00+01:00.",
);

export function asDomain(text: string): string {
  const read = parseDomainName(text.trim());
  if (!read.ok) throw new InvalidArgumentError(read.fault);
  return read.domain;
}

const splitList = (text: string): string[] =>
  text
    .split(",")
    .map((word) => word.trim())
    .filter((word) => word !== "");

/** Domains separated by commas, or `all`. */
export function asDomains(text: string): string[] | "all" {
  if (text.trim() === "all") return "all";
  const names = splitList(text).map(asDomain);
  if (names.length === 0)
    throw new InvalidArgumentError("Enter at least one domain, or all, or omit the option.");
  return names;
}

/** Networks separated by commas; none for `any`. */
export function asNetworks(text: string): string[] {
  if (text.trim() === "any") return [];
  const { success, data, error } = ClientNetworks.safeParse(text.split(",").map((item) => item.trim()));
  if (success) return data;
  throw new InvalidArgumentError(error.issues.map(({ message }) => message).join(" "));
}

/** Scopes and presets separated by commas. */
export function asScopes(text: string): Scope[] {
  const read = parseScopes(splitList(text));
  const possible = [...Object.keys(SCOPE_PRESETS), ...SCOPES].join(", ");
  if ("unknown" in read)
    throw new InvalidArgumentError(`Unknown scope "${read.unknown}". Valid scopes: ${possible}.`);
  if (read.scopes.length === 0) throw new InvalidArgumentError(`Enter at least one of: ${possible}.`);
  return read.scopes;
}

type Limits = Partial<Record<Tier, number | null>>;

/** Parses one `class=number` or `class=default` (null) and adds it to the limits of the earlier options. */
export function asLimit(text: string, earlier: Limits = {}): Limits {
  const [, name = "", value = ""] = /^([^=]*)=\s*(\d+|default)\s*$/.exec(text) ?? [];
  const tier = TIERS.find((candidate) => candidate === name.trim());
  const number = value === "default" ? null : Number(value);
  if (!tier || (number !== null && (number < 1 || number > limitMax)))
    throw new InvalidArgumentError(
      `Enter class=requests per minute, such as "POST /api/emails=1000". Classes: ${TIERS.join(", ")}. Limits: 1 to ${limitMax}, or default.`,
    );
  return { ...earlier, [tier]: number };
}
