import type { Command } from "commander";
import { domainJson } from "#server/rest/wire/domain";
import { verifyDomain } from "#server/services/domains/check/verify";
import { getDomain } from "#server/services/domains/dkim/credentials";
import { rotateDomainKey } from "#server/services/domains/dkim/rotate";
import { type Domain, findDomain, listDomains } from "#server/services/domains/read";
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
import { formatTime, printJson, printLine, printTable } from "./terminal";

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
        .description(
          "adds a domain to a team; only one team can verify it, and it expires after 7 days unless verified",
        )
        .argument("<name>", "the domain, such as example.com", readDomain)
        .option("--verified", "mark it as verified manually, without a DNS check"),
    ),
  )
    .addHelpText(
      "after",
      "\nExamples:\n  domain add example.com\n  domain add example.com --verified --team Sales",
    )
    .action(async (name: string, options: Options & { verified?: true }) => {
      await withTeam(options.team, async (ctx, team) => {
        const added = await addDomain(ctx, { name, verified: options.verified === true });
        if (options.json) return printJson(present(added));
        printLine(`Added ${added.name} to team ${team.name}: ${added.status}.`);
        if (added.status === "verified") return;
        printLine(`Show the DNS records to publish: domain show ${added.name}`);
        printLine(`Check DNS and verify the domain: domain show ${added.name} --look`);
        printLine(`Or verify it manually, without a DNS check: domain verify ${added.name}`);
      });
    });

  addJsonOption(addTeamOption(domain.command("list").description("lists a team's domains"))).action(
    async (options: Options) => {
      await withTeam(options.team, async (ctx) => {
        const domains = await listDomains(ctx);
        if (options.json) return printJson({ data: domains.map(present) });
        printTable(
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
        .description("shows a domain's DNS records and the result of the last check")
        .argument("<name>", "the domain", readDomain)
        .option("--look", "check DNS now"),
    ),
  )
    .addHelpText("after", "\nExamples:\n  domain show example.com\n  domain show example.com --look")
    .action(async (name: string, options: Options & { look?: true }) => {
      await withTeam(options.team, async (ctx) => {
        const found = await getDomain(ctx, name);
        const shown = domainJson(ctx, options.look ? await verifyDomain(ctx, found.id) : found);
        if (options.json) return printJson(shown);
        for (const line of describeDomain(shown)) printLine(line);
      });
    });

  addJsonOption(
    addTeamOption(
      domain
        .command("set")
        .description(
          "sets a domain's daily cap and warm-up, in recipients per day (UTC); the rest stays queued",
        )
        .argument("<name>", "the domain", readDomain)
        .option("--daily-cap <number>", "recipients a day, or none for any number", readDailyCap)
        .option(
          "--warm-up <number>",
          "start a warm-up with this many recipients on the first day",
          readRecipients,
        )
        .option("--growth <percent>", "growth of the warm-up per day in percent (default: 50)", readPercent)
        .option(
          "--target <number>",
          "end the warm-up at this many recipients per day (default: the daily cap)",
          readRecipients,
        )
        .option("--from <day>", "first day of the warm-up, in UTC (default: today)", readDay)
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
        command.error("error: use --daily-cap, --warm-up or --no-warm-up");
      await withTeam(options.team, async (ctx) => {
        const { id } = await findDomain(ctx, name);
        const shown = domainJson(ctx, await updateDomain(ctx, id, change));
        if (options.json) return printJson(shown);
        for (const line of describeDomain(shown)) printLine(line);
      });
    });

  addJsonOption(
    addTeamOption(
      domain
        .command("rotate-key")
        .description(
          "creates new DKIM keys; they sign after their DNS record is verified, and the old keys stay valid for a time",
        )
        .argument("<name>", "the domain", readDomain),
    ),
  ).action(async (name: string, options: Options) => {
    await withTeam(options.team, async (ctx) => {
      const { id } = await findDomain(ctx, name);
      const shown = domainJson(ctx, await rotateDomainKey(ctx, id));
      if (options.json) return printJson(shown);
      for (const line of describeDomain(shown)) printLine(line);
    });
  });

  addJsonOption(
    addTeamOption(
      domain
        .command("verify")
        .description("marks a domain as verified manually, without a DNS check")
        .argument("<name>", "the domain", readDomain),
    ),
  ).action(async (name: string, options: Options) => {
    await withTeam(options.team, async (ctx) => {
      const verified = await declareDomainVerified(ctx, name);
      if (options.json) return printJson(present(verified));
      printLine(`Marked ${verified.name} as verified.`);
    });
  });

  addJsonOption(
    addTeamOption(
      domain
        .command("remove")
        .description(
          "removes a domain from a team; its queued email is not sent, and any team can add the domain again",
        )
        .argument("<name>", "the domain", readDomain),
    ),
  ).action(async (name: string, options: Options) => {
    await withTeam(options.team, async (ctx) => {
      const { id } = await findDomain(ctx, name);
      await deleteDomain(ctx, id);
      if (options.json) return printJson({ id, removed: true });
      printLine(`Removed ${name}.`);
    });
  });
}

const growthPercentDefault = 50;

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
              growthPercent: growth ?? growthPercentDefault,
              target: target ?? null,
            },
    }),
  };
}

function present({ id, name, status, createdAt }: Domain) {
  return { id, name, status, created_at: createdAt.toISOString() };
}
