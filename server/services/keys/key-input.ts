import { z } from "zod";
import { LIMIT_PER_MINUTE, type Tier } from "#server/limits/limits";

const nameCharsMax = 50;

/** A key's name: one line, for people. */
export const KeyName = z
  .string("Give a name, such as the program's that will use the key.")
  .max(nameCharsMax, `At most ${nameCharsMax} characters. Choose a shorter one.`)
  .refine((text) => !/\p{Cc}/u.test(text), "Must be one line without control characters.");

const LIMIT = "Must be a whole number of calls a minute, at least 1.";

/** A limit of one class of calls. */
export const CallsPerMinute = z.number(LIMIT).int(LIMIT).min(1, LIMIT);

/** The classes of calls that a key may have limits of its own for. */
export const TIERS = Object.keys(LIMIT_PER_MINUTE) as [Tier, ...Tier[]];
