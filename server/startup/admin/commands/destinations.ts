import { isDeadAddress } from "#server/mail/bounce/dead-address";
import { outcomeOfReply, parseSmtpReply } from "#server/mail/outcome";
import { applyOwnRules, REPLY_ACTIONS } from "#server/mail/replies/own-rules";
import {
  addDestinationHost,
  listDestinationHosts,
  removeDestinationHost,
} from "#server/services/destinations/hosts";
import {
  destinationLimitMax,
  listDestinationLimits,
  setDestinationLimit,
  unsetDestinationLimit,
} from "#server/services/destinations/limits";
import { listDestinations } from "#server/services/destinations/list";
import {
  getReplyRules,
  listReplyRules,
  removeReplyRule,
  setReplyRule,
} from "#server/services/destinations/reply-rules";
import { REPLY_CLASSES } from "#server/shared/reply-classes";
import { presentRow } from "#server/shared/wire/shapes";
import { asDomain, asText, asTime, numberOf, orWord, wordOf } from "../arguments";
import { argument, definedOf, inDatabase, option, optionWithDefault, requiredOption } from "../command";
import { listOutput, output } from "../terminal";

const domain = argument("a destination or the recipients' domain, such as gmail.com", asDomain);
const host = argument("the name of an MX host, or a domain above it", asDomain);
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
      return output(limit, limit, "Workers apply these limits within a second.");
    },
  }),

  list: inDatabase({
    about: "lists the destinations that have limits",
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
        `Removed the limits of ${domain}. Throttled deliveries continue within seconds.`,
      );
    },
  }),

  status: inDatabase({
    about: "lists destinations with their learned limits, the reasons, and the deliveries that wait",
    run: async ({ deps }) =>
      listOutput((await listDestinations(deps)).map(presentRow), "No email was sent directly yet."),
  }),

  "add-host": inDatabase({
    about: "adds an MX host to a destination, whose limits then apply to all domains with this host",
    params: { host, to: requiredOption("destination", "the destination's name", asDomain) },
    run: async ({ deps }, { host, to: destination }) => {
      const added = await addDestinationHost(deps, { host, destination });
      return output(added, added, "Workers apply it within 20 seconds.");
    },
  }),

  "remove-host": inDatabase({
    about: "removes an MX host that was added to a destination",
    params: { host },
    run: async ({ deps }, { host }) => {
      const removed = await removeDestinationHost(deps, host);
      return output({ ...removed, removed: true }, `Removed ${host} from ${removed.destination}.`);
    },
  }),

  hosts: inDatabase({
    about: "lists the MX hosts that were added to destinations",
    run: async ({ deps }) => listOutput(await listDestinationHosts(deps), "No MX hosts were added."),
  }),
};

const ruleName = argument(
  "the name of the rule: lower-case letters, digits, hyphens and underscores",
  asText,
);

export const replyCommands = {
  set: inDatabase({
    about: "adds a rule for replies of mail servers, or replaces the one of this name",
    params: {
      name: ruleName,
      pattern: requiredOption(
        "text",
        "part of the reply with its codes; * stands for any characters",
        asText,
      ),
      class: requiredOption(
        "class",
        `what the reply means: ${REPLY_CLASSES.join(", ")}`,
        wordOf(REPLY_CLASSES),
      ),
      action: optionWithDefault(
        "action",
        "keep what the server decided, defer, bounce, or suppress (bounce, and suppress the address)",
        wordOf(REPLY_ACTIONS),
        "keep",
      ),
      destination: option(
        "name",
        "only at this provider, such as gmail, or this domain of recipients or MX hosts",
        asText,
      ),
      expires: option("time", "the time from which the rule no longer applies", asTime),
    },
    help: "Only such a rule bounces an email after a temporary (4xx) reply, or retries it after a permanent one.",
    run: async ({ deps }, { expires: expiresAt, ...rule }) => {
      const set = presentRow(await setReplyRule(deps, { ...rule, expiresAt }));
      return output(set, set, "Workers apply the rule within 10 seconds.");
    },
  }),

  list: inDatabase({
    about: "lists your rules in the order in which they are applied; the first that matches decides",
    run: async ({ deps }) =>
      listOutput(
        (await listReplyRules(deps)).map(presentRow),
        "There are no rules besides the built-in ones.",
      ),
  }),

  unset: inDatabase({
    about: "removes a rule",
    params: { name: ruleName },
    run: async ({ deps }, { name }) => {
      await removeReplyRule(deps, name);
      return output({ name, unset: true }, `Removed the rule ${name}.`);
    },
  }),

  explain: inDatabase({
    about: "says what Backstamp would do after a reply to RCPT TO, and by which rule",
    params: {
      reply: argument("the reply with its codes, such as '550 5.1.1 User unknown'", asText),
      domain: optionWithDefault("name", "the recipient's domain", asDomain, "example.com"),
    },
    run: async ({ deps }, { reply, domain: recipients }) => {
      const outcome = applyOwnRules(
        await getReplyRules(deps.hot),
        recipients,
        outcomeOfReply(`user@${recipients}`, parseSmtpReply(reply), null, "rcpt"),
      );
      const explained = {
        outcome: outcome.kind,
        class: outcome.class ?? null,
        rule: outcome.replyRule ?? null,
        suppresses: isDeadAddress(outcome, 1),
      };
      return output(explained, explained);
    },
  }),
};
