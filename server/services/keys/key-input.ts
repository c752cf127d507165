import { z } from "zod";
import { LIMIT_PER_MINUTE, type Tier } from "#server/platform/limits/limits";

const nameCharsMax = 50;

/** The name of a key: one line, for display. */
export const KeyName = z
  .string("Enter a name, such as the name of the app that will use the key.")
  .max(nameCharsMax, `At most ${nameCharsMax} characters. Choose a shorter one.`)
  .refine((text) => !/\p{Cc}/u.test(text), "Must be one line without control characters.");

const LIMIT = "Must be a whole number of calls per minute, at least 1.";

/** A rate limit for one class of calls. */
export const CallsPerMinute = z.number(LIMIT).int(LIMIT).min(1, LIMIT);

/** The classes of calls that can have a limit per key. */
export const TIERS = Object.keys(LIMIT_PER_MINUTE) as [Tier, ...Tier[]];
