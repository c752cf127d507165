import { type Command, InvalidArgumentError } from "commander";
import { z } from "zod";
import type { OwnLimits } from "#db/schema/api-keys";
import { ROLES, type Role } from "#db/schema/teams";
import { isId } from "#server/ids";
import { LIMIT_PER_MINUTE } from "#server/limits/limits";
import { readDomainName } from "#server/mail/address";
import { readScopes, SCOPE_PRESETS, SCOPES, type Scope } from "#server/scopes";
import { destinationLimitMax } from "#server/services/destinations/limits";
import { growthPercentMax, recipientsMax, WarmUpDay } from "#server/services/domains/caps";
import { ROTATION } from "#server/services/keys/rotate";
import { retentionDaysMax } from "#server/services/retention";

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
 * Readers of arguments. What cannot be meant is an InvalidArgumentError, which names the argument and ends with the exit
 * code of a wrong call.
 */

export function readName(text: string): string {
  const name = text.trim();
  if (name === "" || name.length > nameCharsMax || /\p{Cc}/u.test(name))
    throw new InvalidArgumentError(`Give a name of 1 to ${nameCharsMax} characters on one line.`);
  return name;
}

export function readId(text: string): string {
  if (!isId(text))
    throw new InvalidArgumentError("Give an id, such as 0198c5a2-6f0e-7cc3-a5b1-94e1f3b7c1d2.");
  return text.toLowerCase();
}

export function readScopeList(text: string): Scope[] {
  const read = readScopes(wordsOf(text));
  const possible = [...Object.keys(SCOPE_PRESETS), ...SCOPES].join(", ");
  if ("unknown" in read)
    throw new InvalidArgumentError(`There is no scope "${read.unknown}". There are: ${possible}.`);
  if (read.scopes.length === 0) throw new InvalidArgumentError(`Give at least one of: ${possible}.`);
  return read.scopes;
}

export function readDomain(text: string): string {
  const read = readDomainName(text.trim());
  if (!read.ok) throw new InvalidArgumentError(read.fault);
  return read.domain;
}

export function readDomainList(text: string): string[] {
  const names = wordsOf(text).map(readDomain);
  if (names.length === 0)
    throw new InvalidArgumentError("Give at least one domain, or leave the option out.");
  return names;
}

export function readMoment(text: string): Date {
  if (!Moment.safeParse(text).success)
    throw new InvalidArgumentError(
      "Give a date, or a time with its zone: 2030-01-31, 2030-01-31T12:00:00Z or 2030-01-31T12:00:00+01:00.",
    );
  return new Date(text);
}

/** One of several `class=number`; the numbers gathered so far come with it. */
export function readLimit(text: string, earlier: OwnLimits = {}): OwnLimits {
  const [, name = "", digits = ""] = /^([^=]*)=\s*(\d+)\s*$/.exec(text) ?? [];
  const classes = Object.keys(LIMIT_PER_MINUTE) as (keyof typeof LIMIT_PER_MINUTE)[];
  const tier = classes.find((candidate) => candidate === name.trim());
  const number = Number(digits);
  if (!tier || number < 1 || number > limitMax)
    throw new InvalidArgumentError(
      `Give a class and calls a minute, "POST /api/emails=1000". The classes: ${classes.join(", ")}; 1 to ${limitMax}.`,
    );
  return { ...earlier, [tier]: number };
}

/** Recipients a day, or `none` for any number. */
export function readDailyCap(text: string): number | "none" {
  return text.trim() === "none" ? "none" : readCount(text, 0);
}

/** Connections or mails a minute, or `none` for any number. */
export function readDestinationLimit(text: string): number | "none" {
  if (text.trim() === "none") return "none";
  const limit = Number(text);
  if (!/^\d+$/.test(text.trim()) || limit < 1 || limit > destinationLimitMax)
    throw new InvalidArgumentError(`Give a whole number, 1 to ${destinationLimitMax}, or none.`);
  return limit;
}

/** For how many days mail is kept, or that it is kept for good. */
export function readKeptDays(text: string): number | "always" {
  if (text.trim() === "always") return "always";
  const days = Number(text);
  if (!/^\d+$/.test(text.trim()) || days < 1 || days > retentionDaysMax)
    throw new InvalidArgumentError(`Give a whole number of days, 1 to ${retentionDaysMax}, or always.`);
  return days;
}

/** Recipients, at least one. */
export const readRecipients = (text: string): number => readCount(text, 1);

function readCount(text: string, least: number): number {
  const count = Number(text);
  if (!/^\d+$/.test(text.trim()) || count < least || count > recipientsMax)
    throw new InvalidArgumentError(`Give a whole number of recipients, ${least} to ${recipientsMax}.`);
  return count;
}

export function readPercent(text: string): number {
  const percent = Number(text.replace(/%$/, ""));
  if (!Number.isInteger(percent) || percent < 1 || percent > growthPercentMax)
    throw new InvalidArgumentError(`Give whole per cent, 1 to ${growthPercentMax}.`);
  return percent;
}

export function readDay(text: string): string {
  if (!WarmUpDay.safeParse(text).success) throw new InvalidArgumentError("Give a day, such as 2030-01-31.");
  return text;
}

/** Hours for which a replaced key works on. */
export function readOverlapHours(text: string): number {
  const hours = Number(text);
  const hoursMax = ROTATION.overlapMsMax / 3_600_000;
  if (!/^\d+(\.\d+)?$/.test(text) || hours > hoursMax)
    throw new InvalidArgumentError(`Give hours, 0 to ${hoursMax}, such as 24 or 0.5.`);
  return hours;
}

export function readRole(text: string): Role {
  const role = ROLES.find((candidate) => candidate === text);
  if (!role) throw new InvalidArgumentError(`Give one of: ${ROLES.join(", ")}.`);
  return role;
}
