import type { Command } from "commander";
import { domainJson } from "#server/rest/wire/domain";
import { getDomain } from "#server/services/domains/credentials";
import { type Domain, findDomain, listDomains } from "#server/services/domains/read";
import { rotateDomainKey } from "#server/services/domains/rotate-key";
import { verifyDomain } from "#server/services/domains/verify";
import {
  addDomain,
  type DomainChange,
  declareDomainVerified,
  deleteDomain,
  updateDomain,
} from "#server/services/domains/write";
import {
  addJsonOption,
  addTeamOption,
  readDailyCap,
  readDay,
  readDomain,
  readPercent,
  readRecipients,
} from "./arguments";
import { describeDomain } from "./domain-report";
import { withTeam } from "./session";
import { formatTime, say, sayJson, sayTable } from "./terminal";

type Options = { team?: string; json?: true };
type SetOptions = Options & {
  dailyCap?: number | "none";
  /** False by `--no-warm-up`. */
  warmUp?: number | false;
  growth?: number;
  target?: number;
  from?: string;
};

/** `domain add`, `domain list`, `domain show`, `domain set`, `domain rotate-key`, `domain verify`, `domain remove`. */
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
        .command("set")
        .description("limits to how many recipients a day (UTC) mail from a domain goes; the rest waits")
        .argument("<name>", "the domain", readDomain)
        .option("--daily-cap <number>", "recipients a day, or none for any number", readDailyCap)
        .option("--warm-up <number>", "warm it up: so many recipients on the first day", readRecipients)
        .option("--growth <percent>", "and each day so many per cent more (default: 50)", readPercent)
        .option(
          "--target <number>",
          "until a day would allow so many (default: the daily cap)",
          readRecipients,
        )
        .option("--from <day>", "the first day, in UTC (default: today)", readDay)
        .option("--no-warm-up", "end its warm-up"),
    ),
  )
    .addHelpText(
      "after",
      "\nExamples:\n  domain set example.com --daily-cap 5000\n  domain set example.com --warm-up 50 --growth 50 --target 20000\n  domain set example.com --no-warm-up --daily-cap none",
    )
    .action(async (name: string, options: SetOptions, command: Command) => {
      const change = changeOf(options);
      if (Object.keys(change).length === 0)
        command.error("error: give --daily-cap, --warm-up or --no-warm-up");
      await withTeam(options.team, async (ctx) => {
        const { id } = await findDomain(ctx, name);
        const shown = domainJson(ctx, await updateDomain(ctx, id, change));
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

const growthPercentUsual = 50;

function changeOf({ dailyCap, warmUp, growth, target, from }: SetOptions): DomainChange {
  return {
    ...(dailyCap !== undefined && { dailyCap: dailyCap === "none" ? null : dailyCap }),
    ...(warmUp !== undefined && {
      warmUp:
        warmUp === false
          ? null
          : {
              startDate: from ?? null,
              firstDay: warmUp,
              growthPercent: growth ?? growthPercentUsual,
              target: target ?? null,
            },
    }),
  };
}

function present({ id, name, status, createdAt }: Domain) {
  return { id, name, status, created_at: createdAt.toISOString() };
}
