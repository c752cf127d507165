import type { Ctx } from "#server/deps";
import { describeSetup } from "#server/services/domains/announce";
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
import { presentDomain, presentDomainSummary } from "#server/shared/wire/domain";
import { orNull, readDailyCap, readDay, readDomain, readPercent, readRecipients } from "../arguments";
import { type AdminCommand, addToAll, examples, requireOption, runInTeam, TEAM_OPTION } from "../command";
import { listOutput, type Output } from "../terminal";

type SetOptions = {
  dailyCap?: number | "none";
  /** False by `--no-warm-up`. */
  warmUp?: number | false;
  growth: number;
  target?: number;
  from?: string;
};

/** What a domain lacks that is verified before its DKIM keys exist. */
const noteUnsigned = ({ name, dkimKeys }: Domain): string[] =>
  dkimKeys.length > 0
    ? []
    : [
        `It has no DKIM keys yet, so its email goes out unsigned. To create them and show the DNS records to publish: domain show ${name}`,
      ];

/**
 * `domain add`, `domain list`, `domain show`, `domain set`, `domain rotate-key`, `domain verify`, `domain
 * remove`.
 */
export function addDomainCommands(program: AdminCommand): void {
  const domain = program.command("domain").description("domains that a team sends from");

  const add = domain
    .command("add")
    .description(
      "adds a domain to a team; only one team can verify it, and it expires after 7 days unless verified",
    )
    .argument("<name>", "the domain, such as example.com", readDomain)
    .option("--verified", "mark it as verified manually, without a DNS check")
    .addHelpText(...examples("domain add example.com", "domain add example.com --verified --team Sales"));
  runInTeam(add, async (ctx, team, name: string, { verified = false }: { verified?: boolean }) => {
    const added = await addDomain(ctx, { name, verified });
    const steps = [
      `Show the DNS records to publish: domain show ${added.name}`,
      `Check DNS and verify the domain: domain show ${added.name} --look`,
      `Or verify it manually, without a DNS check: domain verify ${added.name}`,
    ];
    return {
      json: presentDomainSummary(added),
      text: [
        `Added ${added.name} to team ${team.name}: ${added.status}.`,
        ...(added.status === "verified" ? noteUnsigned(added) : steps),
      ],
    };
  });

  const list = domain.command("list").description("lists a team's domains");
  runInTeam(list, async (ctx) =>
    listOutput(
      (await listDomains(ctx)).map(presentDomainSummary),
      ({ name, status, created_at, id }) => ({ name, status, created_at, id }),
      "No domains.",
    ),
  );

  const show = domain
    .command("show")
    .description("shows a domain's DNS records and the result of the last check")
    .argument(...NAME, readDomain)
    .option("--look", "check DNS now")
    .addHelpText(...examples("domain show example.com", "domain show example.com --look"));
  runInTeam(show, async (ctx, _team, name: string, { look }: { look?: true }) => {
    const found = await getDomain(ctx, name);
    return domainOutput(ctx, look ? await verifyDomain(ctx, found.id) : found);
  });

  const set = domain
    .command("set")
    .description("sets a domain's daily cap and warm-up, in recipients per day (UTC); the rest stays queued")
    .argument(...NAME, readDomain)
    .option("--daily-cap <number>", "recipients a day, or none for any number", readDailyCap)
    .option(
      "--warm-up <number>",
      "start a warm-up with this many recipients on the first day",
      readRecipients,
    )
    .option("--growth <percent>", "growth of the warm-up per day in percent", readPercent, 50)
    .option(
      "--target <number>",
      "end the warm-up at this many recipients per day (default: the daily cap)",
      readRecipients,
    )
    .option("--from <day>", "first day of the warm-up, in UTC (default: today)", readDay)
    .option("--no-warm-up", "end its warm-up")
    .addHelpText(
      ...examples(
        "domain set example.com --daily-cap 5000",
        "domain set example.com --warm-up 50 --growth 50 --target 20000",
        "domain set example.com --no-warm-up --daily-cap none",
      ),
    )
    .hook("preAction", requireOption("--daily-cap", "--warm-up", "--no-warm-up"));
  runInTeam(set, async (ctx, _team, name: string, options: SetOptions) => {
    const { id } = await findDomain(ctx, name);
    return domainOutput(ctx, await updateDomain(ctx, id, changeOf(options)));
  });

  const rotateKey = domain
    .command("rotate-key")
    .description(
      "creates new DKIM keys; they sign after their DNS record is verified, and the old keys stay valid for a time",
    )
    .argument(...NAME, readDomain);
  runInTeam(rotateKey, async (ctx, _team, name: string) => {
    const { id } = await findDomain(ctx, name);
    return domainOutput(ctx, await rotateDomainKey(ctx, id));
  });

  const verify = domain
    .command("verify")
    .description("marks a domain as verified manually, without a DNS check")
    .argument(...NAME, readDomain);
  runInTeam(verify, async (ctx, _team, name: string) => {
    const verified = await declareDomainVerified(ctx, name);
    return {
      json: presentDomainSummary(verified),
      text: [`Marked ${verified.name} as verified.`, ...noteUnsigned(verified)],
    };
  });

  const remove = domain
    .command("remove")
    .description(
      "removes a domain from a team; its queued email is not sent, and any team can add the domain again",
    )
    .argument(...NAME, readDomain);
  runInTeam(remove, async (ctx, _team, name: string) => {
    const { id } = await findDomain(ctx, name);
    await deleteDomain(ctx, id);
    return { json: { id, removed: true }, text: [`Removed ${name}.`] };
  });

  addToAll(domain, TEAM_OPTION);
}

const NAME = ["<name>", "the domain"] as const;

const domainOutput = (ctx: Ctx, domain: Domain): Output => ({
  json: presentDomain(domain, describeSetup(ctx, domain)),
});

const changeOf = ({ dailyCap, warmUp, growth, target, from }: SetOptions): DomainChange => ({
  ...(dailyCap !== undefined && { dailyCap: orNull(dailyCap) }),
  ...(warmUp !== undefined && {
    warmUp:
      warmUp === false
        ? null
        : {
            startDate: from ?? null,
            firstDay: warmUp,
            growthPercent: growth,
            target: target ?? null,
          },
  }),
});
