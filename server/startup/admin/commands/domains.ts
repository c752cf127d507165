import type { Ctx } from "#server/deps";
import { describeSetup } from "#server/services/domains/announce";
import { growthPercentMax, recipientsMax, WarmUpDay } from "#server/services/domains/caps";
import { verifyDomain } from "#server/services/domains/check/verify";
import { getDomain } from "#server/services/domains/dkim/credentials";
import { rotateDomainKey } from "#server/services/domains/dkim/rotate";
import { type Domain, findDomain, listDomains } from "#server/services/domains/read";
import { addDomain, declareDomainVerified, deleteDomain, updateDomain } from "#server/services/domains/write";
import { presentDomain, presentDomainSummary } from "#server/shared/wire/domain";
import { asDomain, numberOf, orWord, parserOf } from "../arguments";
import { argument, definedOf, examples, flag, inTeam, option, optionWithDefault } from "../command";
import { listOutput, type Output, output } from "../terminal";

const name = argument("the domain, such as example.com", asDomain);
const recipients = numberOf(1, recipientsMax);
const asPercent = (text: string): number => numberOf(1, growthPercentMax)(text.replace(/%$/, ""));

export const domainCommands = {
  add: inTeam({
    about:
      "adds a domain to a team; only one team can verify it, and it expires after 7 days unless verified",
    params: { name, verified: flag("mark it as verified manually, without a DNS check") },
    run: async (ctx, { name, verified }, team) => {
      const added = await addDomain(ctx, { name, verified });
      const steps = [
        `Show the DNS records to publish: domain show ${added.name}`,
        `Check DNS and verify the domain: domain show ${added.name} --check`,
        `Or verify it manually, without a DNS check: domain verify ${added.name}`,
      ];
      return output(
        presentDomainSummary(added),
        `Added ${added.name} to team ${team.name}: ${added.status}.`,
        ...(added.status === "verified" ? noteUnsigned(added) : steps),
      );
    },
  }),

  list: inTeam({
    about: "lists a team's domains",
    run: async (ctx) =>
      listOutput((await listDomains(ctx)).map(presentDomainSummary), "No domains.", [
        "name",
        "status",
        "created_at",
        "id",
      ]),
  }),

  show: inTeam({
    about: "shows a domain's DNS records and the result of the last check",
    params: { name, check: flag("check DNS now") },
    run: async (ctx, { name, check }) => {
      const found = await getDomain(ctx, name);
      return domainOutput(ctx, check ? await verifyDomain(ctx, found.id) : found);
    },
  }),

  set: inTeam({
    about: "sets a domain's daily cap and warm-up, in recipients per day (UTC); the rest stays queued",
    params: {
      name,
      dailyCap: option("number", "recipients a day, or none", orWord("none", numberOf(0, recipientsMax))),
      warmUp: option(
        "number",
        "start a warm-up with this many recipients on the first day, or none to end it",
        orWord("none", recipients),
      ),
      growth: optionWithDefault("percent", "growth of the warm-up per day in percent", asPercent, 50),
      target: option(
        "number",
        "end the warm-up at this many recipients per day (default: the cap)",
        recipients,
      ),
      from: option(
        "day",
        "first day of the warm-up, in UTC (default: today)",
        parserOf(WarmUpDay, "Enter a day, such as 2030-01-31."),
      ),
    },
    needsOneOf: ["dailyCap", "warmUp"],
    help: examples("domain set example.com --warm-up 50 --growth 50 --target 20000"),
    run: async (ctx, { name, dailyCap, warmUp: firstDay, growth, target = null, from = null }) => {
      const { id } = await findDomain(ctx, name);
      const warmUp =
        typeof firstDay === "number"
          ? { startDate: from, firstDay, growthPercent: growth, target }
          : firstDay;
      return domainOutput(ctx, await updateDomain(ctx, id, definedOf({ dailyCap, warmUp })));
    },
  }),

  "rotate-key": inTeam({
    about:
      "creates new DKIM keys; they sign after their DNS record is verified, and the old keys stay valid for a time",
    params: { name },
    run: async (ctx, { name }) => {
      const { id } = await findDomain(ctx, name);
      return domainOutput(ctx, await rotateDomainKey(ctx, id));
    },
  }),

  verify: inTeam({
    about: "marks a domain as verified manually, without a DNS check",
    params: { name },
    run: async (ctx, { name }) => {
      const verified = await declareDomainVerified(ctx, name);
      return output(
        presentDomainSummary(verified),
        `Marked ${verified.name} as verified.`,
        ...noteUnsigned(verified),
      );
    },
  }),

  remove: inTeam({
    about:
      "removes a domain from a team; its queued email is not sent, and any team can add the domain again",
    params: { name },
    run: async (ctx, { name }) => {
      const { id } = await findDomain(ctx, name);
      await deleteDomain(ctx, id);
      return output({ id, removed: true }, `Removed ${name}.`);
    },
  }),
};

/** What a domain lacks that is verified before its DKIM keys exist. */
const noteUnsigned = ({ name, dkimKeys }: Domain): string[] =>
  dkimKeys.length > 0
    ? []
    : [
        `It has no DKIM keys yet, so its email goes out unsigned. To create them and show the DNS records to publish: domain show ${name}`,
      ];

const domainOutput = (ctx: Ctx, domain: Domain): Output => ({
  json: presentDomain(domain, describeSetup(ctx, domain)),
});
