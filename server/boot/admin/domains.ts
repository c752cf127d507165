import type { Command } from "commander";
import { domainJson } from "#server/rest/wire/domain";
import { getDomain } from "#server/services/domains/credentials";
import { type Domain, findDomain, listDomains } from "#server/services/domains/read";
import { rotateDomainKey } from "#server/services/domains/rotate-key";
import { verifyDomain } from "#server/services/domains/verify";
import { addDomain, declareDomainVerified, deleteDomain } from "#server/services/domains/write";
import { addJsonOption, addTeamOption, readDomain } from "./arguments";
import { describeDomain } from "./domain-report";
import { withTeam } from "./session";
import { formatTime, say, sayJson, sayTable } from "./terminal";

type Options = { team?: string; json?: true };

/** `domain add`, `domain list`, `domain show`, `domain rotate-key`, `domain verify`, `domain remove`. */
export function addDomainCommands(program: Command): void {
  const domain = program.command("domain").description("domains that a team sends from");

  addJsonOption(
    addTeamOption(
      domain
        .command("add")
        .description("adds a domain to a team; a domain belongs to one team at a time")
        .argument("<name>", "the domain, such as example.com", readDomain)
        .option("--verified", "declare it verified, on your word and without a look at DNS"),
    ),
  )
    .addHelpText(
      "after",
      "\nExamples:\n  domain add example.com\n  domain add example.com --verified --team Sales",
    )
    .action(async (name: string, options: Options & { verified?: true }) => {
      await withTeam(options.team, async (ctx, team) => {
        const added = await addDomain(ctx, { name, verified: options.verified === true });
        if (options.json) return sayJson(present(added));
        say(`Added ${added.name} to team ${team.name}: ${added.status}.`);
        if (added.status === "verified") return;
        say(`What to publish for it: domain show ${added.name}`);
        say(`It sends once it is verified: domain show ${added.name} --look`);
        say(`Or on your word: domain verify ${added.name}`);
      });
    });

  addJsonOption(addTeamOption(domain.command("list").description("lists a team's domains"))).action(
    async (options: Options) => {
      await withTeam(options.team, async (ctx) => {
        const domains = await listDomains(ctx);
        if (options.json) return sayJson({ data: domains.map(present) });
        sayTable(
          ["NAME", "STATUS", "ADDED", "ID"],
          domains.map(({ id, name, status, createdAt }) => [name, status, formatTime(createdAt), id]),
        );
      });
    },
  );

  addJsonOption(
    addTeamOption(
      domain
        .command("show")
        .description("shows what to publish for a domain, and what the last look at DNS saw of it")
        .argument("<name>", "the domain", readDomain)
        .option("--look", "look at DNS now"),
    ),
  )
    .addHelpText("after", "\nExamples:\n  domain show example.com\n  domain show example.com --look")
    .action(async (name: string, options: Options & { look?: true }) => {
      await withTeam(options.team, async (ctx) => {
        const found = await getDomain(ctx, name);
        const shown = domainJson(ctx, options.look ? await verifyDomain(ctx, found.id) : found);
        if (options.json) return sayJson(shown);
        for (const line of describeDomain(shown)) say(line);
      });
    });

  addJsonOption(
    addTeamOption(
      domain
        .command("rotate-key")
        .description(
          "makes new DKIM keys; they sign once their record is seen, and the old one stays for a while",
        )
        .argument("<name>", "the domain", readDomain),
    ),
  ).action(async (name: string, options: Options) => {
    await withTeam(options.team, async (ctx) => {
      const { id } = await findDomain(ctx, name);
      const shown = domainJson(ctx, await rotateDomainKey(ctx, id));
      if (options.json) return sayJson(shown);
      for (const line of describeDomain(shown)) say(line);
    });
  });

  addJsonOption(
    addTeamOption(
      domain
        .command("verify")
        .description("declares a domain verified, on your word and without a look at DNS")
        .argument("<name>", "the domain", readDomain),
    ),
  ).action(async (name: string, options: Options) => {
    await withTeam(options.team, async (ctx) => {
      const verified = await declareDomainVerified(ctx, name);
      if (options.json) return sayJson(present(verified));
      say(`${verified.name} counts as verified now.`);
    });
  });

  addJsonOption(
    addTeamOption(
      domain
        .command("remove")
        .description(
          "takes a domain from a team; what is queued from it is not sent, and anybody may add it anew",
        )
        .argument("<name>", "the domain", readDomain),
    ),
  ).action(async (name: string, options: Options) => {
    await withTeam(options.team, async (ctx) => {
      const { id } = await findDomain(ctx, name);
      await deleteDomain(ctx, id);
      if (options.json) return sayJson({ id, removed: true });
      say(`Removed ${name}.`);
    });
  });
}

function present({ id, name, status, createdAt }: Domain) {
  return { id, name, status, created_at: createdAt.toISOString() };
}
