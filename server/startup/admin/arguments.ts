import { InvalidArgumentError } from "commander";
import { z } from "zod";
import { ROLES } from "#db/schema/teams";
import { readDomainName } from "#server/mail/address/address";
import { isId } from "#server/platform/ids";
import { destinationLimitMax } from "#server/services/destinations/limits";
import { growthPercentMax, recipientsMax, WarmUpDay } from "#server/services/domains/caps";
import type { KeyChange } from "#server/services/keys/change";
import { ClientNetworks } from "#server/services/keys/key-input";
import { ROTATION } from "#server/services/keys/rotate";
import { retentionDaysMax } from "#server/services/retention";
import { TIERS } from "#server/shared/rate-limits";
import { readScopes, SCOPE_PRESETS, SCOPES, type Scope } from "#server/shared/scopes";

const nameCharsMax = 100;
const limitMax = 1_000_000;
const positionMax = 1_000;

/*
 * Argument parsers. Invalid text throws InvalidArgumentError; commander adds the argument's name and the
 * process ends with exit code 2.
 */

function parser<T>(schema: z.ZodType<T>, message: string): (text: string) => T {
  return (text) => {
    const { success, data } = schema.safeParse(text);
    if (!success) throw new InvalidArgumentError(message);
    return data;
  };
}

/** Whole numbers of this range, and possibly one word, such as `none`. */
function wholeNumber<Word extends string = never>(what: string, [min, max]: [number, number], word?: Word) {
  const number = z
    .string()
    .trim()
    .regex(/^\d+$/)
    .transform(Number)
    .refine((value) => value >= min && value <= max);
  const other = z
    .string()
    .trim()
    .refine((text): text is Word => text === word);
  return parser(
    z.union([number, other]),
    `Enter ${what} from ${min} to ${max}${word === undefined ? "" : `, or ${word}`}.`,
  );
}

/** The value of an option, or null for its word: `none`, `never` or `always`. */
export const orNull = <T extends number | Date>(given: T | "none" | "never" | "always"): T | null =>
  typeof given === "string" ? null : given;

export const readName = parser(
  z
    .string()
    .trim()
    .min(1)
    .max(nameCharsMax)
    .regex(/^\P{Cc}*$/u),
  `Enter a name of 1 to ${nameCharsMax} characters on one line.`,
);

export const readId = parser(
  z.string().refine(isId).toLowerCase(),
  "Enter an id, such as 0198c5a2-6f0e-7cc3-a5b1-94e1f3b7c1d2.",
);

/** Networks separated by commas, or `any`. */
export function readNetworks(text: string): string[] | "any" {
  if (text.trim() === "any") return "any";
  const { success, data, error } = ClientNetworks.safeParse(text.split(",").map((item) => item.trim()));
  if (success) return data;
  throw new InvalidArgumentError(error.issues.map(({ message }) => message).join(" "));
}

export const readRole = parser(z.enum(ROLES), `Enter one of: ${ROLES.join(", ")}.`);

const readMoment = parser(
  z.union([
    z.literal("never"),
    z.union([z.iso.datetime({ offset: true }), z.iso.date()]).transform((text) => new Date(text)),
  ]),
  "Enter a date, or a time with its time zone: 2030-01-31, 2030-01-31T12:00:00Z or 2030-01-31T12:00:00+01:00. Or enter never.",
);
/** A time, or `never` for no expiry. */
export const readExpiry = (text: string): Date | "never" => readMoment(text.trim());

/** Recipients per day, or `none` for no cap. */
export const readDailyCap = wholeNumber("a whole number of recipients", [0, recipientsMax], "none");
export const readRecipients = wholeNumber("a whole number of recipients", [1, recipientsMax]);
/** Concurrent connections or emails per minute, or `none` for no limit. */
export const readDestinationLimit = wholeNumber("a whole number", [1, destinationLimitMax], "none");
/** Days of retention, or `always` for unlimited retention. */
export const readRetentionDays = wholeNumber("a whole number of days", [1, retentionDaysMax], "always");
export const readPosition = wholeNumber("a number", [1, positionMax]);

const readWholePercent = wholeNumber("a whole percentage", [1, growthPercentMax]);
export const readPercent = (text: string): number => readWholePercent(text.replace(/%$/, ""));

export const readDay = parser(WarmUpDay, "Enter a day, such as 2030-01-31.");

const hoursMax = ROTATION.overlapMsMax / 3_600_000;
/** Hours for which the replaced key remains valid. */
export const readOverlapHours = parser(
  z
    .string()
    .regex(/^\d+(\.\d+)?$/)
    .transform(Number)
    .refine((hours) => hours <= hoursMax),
  `Enter hours from 0 to ${hoursMax}, such as 24 or 0.5.`,
);

const splitList = (text: string): string[] =>
  text
    .split(",")
    .map((word) => word.trim())
    .filter((word) => word !== "");

export function readScopeList(text: string): Scope[] {
  const read = readScopes(splitList(text));
  const possible = [...Object.keys(SCOPE_PRESETS), ...SCOPES].join(", ");
  if ("unknown" in read)
    throw new InvalidArgumentError(`Unknown scope "${read.unknown}". Valid scopes: ${possible}.`);
  if (read.scopes.length === 0) throw new InvalidArgumentError(`Enter at least one of: ${possible}.`);
  return read.scopes;
}

export function readDomain(text: string): string {
  const read = readDomainName(text.trim());
  if (!read.ok) throw new InvalidArgumentError(read.fault);
  return read.domain;
}

/** Domains separated by commas, or `all`. */
export function readDomainList(text: string): string[] | "all" {
  if (text.trim() === "all") return "all";
  const names = splitList(text).map(readDomain);
  if (names.length === 0)
    throw new InvalidArgumentError("Enter at least one domain, or all, or omit the option.");
  return names;
}

type Limits = NonNullable<KeyChange["limits"]>;

/** Parses one `class=number` or `class=default` (null) and adds it to the limits of the earlier options. */
export function readLimit(text: string, earlier: Limits = {}): Limits {
  const [, name = "", value = ""] = /^([^=]*)=\s*(\d+|default)\s*$/.exec(text) ?? [];
  const tier = TIERS.find((candidate) => candidate === name.trim());
  const number = value === "default" ? null : Number(value);
  if (!tier || (number !== null && (number < 1 || number > limitMax)))
    throw new InvalidArgumentError(
      `Enter class=requests per minute, such as "POST /api/emails=1000". Classes: ${TIERS.join(", ")}. Limits: 1 to ${limitMax}, or default.`,
    );
  return { ...earlier, [tier]: number };
}
