import {
  destinationLimitMax,
  listDestinationLimits,
  setDestinationLimit,
  unsetDestinationLimit,
} from "#server/services/destinations/limits";
import { presentRow } from "#server/shared/wire/shapes";
import { asDomain, numberOf, orWord } from "../arguments";
import { argument, definedOf, inDatabase, option } from "../command";
import { listOutput, output } from "../terminal";

const domain = argument("the recipients' domain, such as gmail.com", asDomain);
const asLimit = orWord("none", numberOf(1, destinationLimitMax));

export const destinationCommands = {
  set: inDatabase({
    about: "sets the limits of a destination, shared by all teams and workers",
    params: {
      domain,
      connections: option("number", "maximum concurrent connections, or none for no limit", asLimit),
      perMinute: option("number", "maximum emails per minute, or none for no limit", asLimit),
    },
    needsOneOf: ["connections", "perMinute"],
    run: async ({ deps }, { domain, connections: connectionsMax, perMinute }) => {
      const change = definedOf({ connectionsMax, perMinute });
      const limit = presentRow(await setDestinationLimit(deps, domain, change));
      return output(limit, limit, "Workers apply these limits from their next claim.");
    },
  }),

  list: inDatabase({
    about: "lists the destinations that have limits",
    params: {},
    run: async ({ deps }) =>
      listOutput((await listDestinationLimits(deps)).map(presentRow), "No destination has limits."),
  }),

  unset: inDatabase({
    about: "removes the limits of a destination",
    params: { domain },
    run: async ({ deps }, { domain }) => {
      await unsetDestinationLimit(deps, domain);
      return output(
        { domain, unset: true },
        `Removed the limits of ${domain}. Throttled deliveries continue within 10 minutes.`,
      );
    },
  }),
};
