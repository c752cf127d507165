import { z } from "zod";
import type { OwnLimits } from "#db/schema/api-keys";
import { parseNetwork } from "#server/platform/http/client-networks";

const nameCharsMax = 50;

/** The name of a key: one line, for display. */
export const KeyName = z
  .string("Enter a name, such as the name of the app that will use the key.")
  .max(nameCharsMax, `At most ${nameCharsMax} characters. Choose a shorter one.`)
  .refine((text) => !/\p{Cc}/u.test(text), "Must be one line without control characters.");

const networksMax = 50;
const NETWORKS = "Must be an array of networks in CIDR notation, such as 192.0.2.0/24 or 2001:db8::/32.";

/** The networks from which clients may use a key, each with its first address. Empty: from every address. */
export const ClientNetworks = z
  .array(z.string(NETWORKS), NETWORKS)
  .max(networksMax, `At most ${networksMax} networks. Use larger ones.`)
  .transform((texts, refine): string[] => {
    const networks = texts.map((text, index) => {
      const network = parseNetwork(text);
      if (network === null)
        refine.addIssue({
          code: "custom",
          path: [index],
          message: `"${text.slice(0, 60)}" is not a network. Enter an address, or a network in CIDR notation, such as 192.0.2.0/24 or 2001:db8::/32.`,
        });
      return network ?? "";
    });
    return [...new Set(networks)];
  });

const LIMIT = "Must be a whole number of calls per minute, at least 1.";

/** A rate limit for one class of calls. */
export const CallsPerMinute = z.number(LIMIT).int(LIMIT).min(1, LIMIT);

/** The limits that are set, from the input of a form or a request. */
export const limitsOf = (given: Record<string, number | undefined>): OwnLimits =>
  Object.fromEntries(Object.entries(given).filter(([, number]) => number !== undefined));
