import { type Command, InvalidArgumentError } from "commander";
import { z } from "zod";
import { ROLES, type Role } from "#db/schema/teams";
import { readDomainName } from "#server/mail/address/address";
import { isId } from "#server/platform/ids";
import { destinationLimitMax } from "#server/services/destinations/limits";
import { growthPercentMax, recipientsMax, WarmUpDay } from "#server/services/domains/caps";
import type { KeyChange } from "#server/services/keys/change";
import { ROTATION } from "#server/services/keys/rotate";
import { retentionDaysMax } from "#server/services/retention";
import { TIERS } from "#server/shared/rate-limits";
import { readScopes, SCOPE_PRESETS, SCOPES, type Scope } from "#server/shared/scopes";

const nameCharsMax = 100;
const limitMax = 1_000_000;

const Moment = z.union([z.iso.datetime({ offset: true }), z.iso.date()]);

/** Adds `--team`. */
export const addTeamOption = (command: Command): Command =>
  command.option("--team <team>", "id or name of the team (default: the first team)");

/** Adds `--json`. */
export const addJsonOption = (command: Command): Command =>
  command.option("--json", "print the result as one JSON document");

const wordsOf = (text: string): string[] =>
  text
    .split(",")
    .map((word) => word.trim())
    .filter((word) => word !== "");

/*
 * Argument parsers. Invalid text throws InvalidArgumentError; commander adds the argument's name and the process ends
 * with exit code 2.
 */

export function readName(text: string): string {
  const name = text.trim();
  if (name === "" || name.length > nameCharsMax || /\p{Cc}/u.test(name))
    throw new InvalidArgumentError(`Enter a name of 1 to ${nameCharsMax} characters on one line.`);
  return name;
}

export function readId(text: string): string {
  if (!isId(text))
    throw new InvalidArgumentError("Enter an id, such as 0198c5a2-6f0e-7cc3-a5b1-94e1f3b7c1d2.");
  return text.toLowerCase();
}

export function readScopeList(text: string): Scope[] {
  const read = readScopes(wordsOf(text));
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
  const names = wordsOf(text).map(readDomain);
  if (names.length === 0)
    throw new InvalidArgumentError("Enter at least one domain, or all, or omit the option.");
  return names;
}

/** A time, or `never` for no expiry. */
export function readExpiry(text: string): Date | "never" {
  if (text.trim() === "never") return "never";
  if (!Moment.safeParse(text).success)
    throw new InvalidArgumentError(
      "Enter a date, or a time with its time zone: 2030-01-31, 2030-01-31T12:00:00Z or 2030-01-31T12:00:00+01:00. Or enter never.",
    );
  return new Date(text);
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

/** Recipients per day, or `none` for no cap. */
export function readDailyCap(text: string): number | "none" {
  return text.trim() === "none" ? "none" : readCount(text, 0);
}

/** Concurrent connections or emails per minute, or `none` for no limit. */
export function readDestinationLimit(text: string): number | "none" {
  if (text.trim() === "none") return "none";
  const limit = Number(text);
  if (!/^\d+$/.test(text.trim()) || limit < 1 || limit > destinationLimitMax)
    throw new InvalidArgumentError(`Enter a whole number from 1 to ${destinationLimitMax}, or none.`);
  return limit;
}

/** Days of retention, or `always` for unlimited retention. */
export function readKeptDays(text: string): number | "always" {
  if (text.trim() === "always") return "always";
  const days = Number(text);
  if (!/^\d+$/.test(text.trim()) || days < 1 || days > retentionDaysMax)
    throw new InvalidArgumentError(`Enter a whole number of days from 1 to ${retentionDaysMax}, or always.`);
  return days;
}

/** A number of recipients, at least 1. */
export const readRecipients = (text: string): number => readCount(text, 1);

function readCount(text: string, min: number): number {
  const count = Number(text);
  if (!/^\d+$/.test(text.trim()) || count < min || count > recipientsMax)
    throw new InvalidArgumentError(`Enter a whole number of recipients from ${min} to ${recipientsMax}.`);
  return count;
}

export function readPercent(text: string): number {
  const percent = Number(text.replace(/%$/, ""));
  if (!Number.isInteger(percent) || percent < 1 || percent > growthPercentMax)
    throw new InvalidArgumentError(`Enter a whole percentage from 1 to ${growthPercentMax}.`);
  return percent;
}

export function readDay(text: string): string {
  if (!WarmUpDay.safeParse(text).success) throw new InvalidArgumentError("Enter a day, such as 2030-01-31.");
  return text;
}

/** Hours for which the replaced key remains valid. */
export function readOverlapHours(text: string): number {
  const hours = Number(text);
  const hoursMax = ROTATION.overlapMsMax / 3_600_000;
  if (!/^\d+(\.\d+)?$/.test(text) || hours > hoursMax)
    throw new InvalidArgumentError(`Enter hours from 0 to ${hoursMax}, such as 24 or 0.5.`);
  return hours;
}

export function readRole(text: string): Role {
  const role = ROLES.find((candidate) => candidate === text);
  if (!role) throw new InvalidArgumentError(`Enter one of: ${ROLES.join(", ")}.`);
  return role;
}
