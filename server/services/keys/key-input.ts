import { z } from "zod";
import type { OwnLimits } from "#db/schema/api-keys";

const nameCharsMax = 50;

/** The name of a key: one line, for display. */
export const KeyName = z
  .string("Enter a name, such as the name of the app that will use the key.")
  .max(nameCharsMax, `At most ${nameCharsMax} characters. Choose a shorter one.`)
  .refine((text) => !/\p{Cc}/u.test(text), "Must be one line without control characters.");

const LIMIT = "Must be a whole number of calls per minute, at least 1.";

/** A rate limit for one class of calls. */
export const CallsPerMinute = z.number(LIMIT).int(LIMIT).min(1, LIMIT);

/** The limits that are set, from the input of a form or a request. */
export const limitsOf = (given: Record<string, number | undefined>): OwnLimits =>
  Object.fromEntries(Object.entries(given).filter(([, number]) => number !== undefined));
