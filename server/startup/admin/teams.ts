import { type Command, Option } from "commander";
import { UNKNOWN_POLICIES, type UnknownPolicy } from "#db/schema/teams";
import type { Deps } from "#server/deps";
import { readRetention, setRetention } from "#server/services/retention";
import {
  createTeam,
  findTeam,
  listTeams,
  readTeamRules,
  type Team,
  updateTeam,
} from "#server/services/teams";
import { addJsonOption, readDailyCap, readKeptDays, readName } from "./arguments";
import { withDatabase, withTeam } from "./session";
import { printJson, printLine, printTable } from "./terminal";

type Options = { json?: true };
type SetOptions = Options & {
  unknown?: UnknownPolicy;
  dailyCap?: number | "none";
  keepContents?: number | "always";
  keepEmails?: number | "always";
};

/** `team create`, `team list`, `team set`, `team show`. */
export function addTeamCommands(program: Command): void {
  const team = program.command("team").description("teams, each with its own keys, domains and emails");

  addJsonOption(
    team.command("create").description("creates a team").argument("<name>", "name of the team", readName),
  )
    .addHelpText("after", '\nExamples:\n  team create Sales\n  team create "Research and development" --json')
    .action(async (name: string, options: Options) => {
      await withDatabase(async ({ deps }) => {
        const made = await createTeam(deps, { name });
        if (options.json) return printJson(made);
        printLine(`Created team ${made.name} (${made.id}).`);
      });
    });

  addJsonOption(
    team
      .command("set")
      .description("changes a team's sending and retention settings")
      .argument("<team>", "id or name of the team")
      .addOption(
        new Option(
          "--unknown <policy>",
          "email with an unknown outcome: retry sends it again; hold waits for email settle",
        ).choices(UNKNOWN_POLICIES),
      )
      .option(
        "--daily-cap <number>",
        "recipients per day (UTC) for all domains of the team together; further email is sent the next day; or none",
        readDailyCap,
      )
      .option("--keep-contents <days>", "erase message content after this many days; or always", readKeptDays)
      .option("--keep-emails <days>", "delete message records after this many days; or always", readKeptDays),
  )
    .addHelpText(
      "after",
      "\nExamples:\n  team set Sales --unknown hold\n  team set Sales --daily-cap 10000\n  team set Sales --keep-contents 90 --keep-emails 730",
    )
    .action(async (name: string, options: SetOptions, command: Command) => {
      const { unknown, dailyCap, keepContents, keepEmails } = options;
      if ([unknown, dailyCap, keepContents, keepEmails].every((option) => option === undefined))
        command.error("error: use --unknown, --daily-cap, --keep-contents or --keep-emails");
      await withTeam(name, async (ctx, found) => {
        await updateTeam(ctx, {
          ...(unknown === undefined ? {} : { unknown }),
          ...(dailyCap === undefined ? {} : { dailyCap: dailyCap === "none" ? null : dailyCap }),
        });
        if (keepContents !== undefined || keepEmails !== undefined) {
          const kept = await readRetention(ctx);
          await setRetention(ctx, {
            bodiesDays: daysOf(keepContents, kept.bodiesDays),
            emailsDays: daysOf(keepEmails, kept.emailsDays),
          });
        }
        await printRules(ctx, found, options);
      });
    });

  addJsonOption(
    team
      .command("show")
      .description("shows a team's sending and retention settings, and its usage today")
      .argument("[team]", "id or name of the team (default: the first team)"),
  ).action(async (name: string | undefined, options: Options) => {
    await withDatabase(async ({ deps }) => printRules(deps, await findTeam(deps, name), options));
  });

  addJsonOption(team.command("list").description("lists the teams, oldest first")).action(
    async (options: Options) => {
      await withDatabase(async ({ deps }) => {
        const teams = await listTeams(deps);
        if (options.json) return printJson({ data: teams });
        printTable(
          ["ID", "NAME"],
          teams.map(({ id, name }) => [id, name]),
        );
      });
    },
  );
}

const daysOf = (given: number | "always" | undefined, kept: number | null): number | null =>
  given === undefined ? kept : given === "always" ? null : given;

async function printRules(deps: Deps, team: Team, options: Options): Promise<void> {
  const { id, name, unknown, dailyCap, handedOverToday } = await readTeamRules({ ...deps, teamId: team.id });
  const { bodiesDays, emailsDays } = await readRetention({ ...deps, teamId: team.id });
  if (options.json)
    return printJson({
      id,
      name,
      unknown,
      daily_cap: dailyCap,
      handed_over_today: dailyCap === null ? null : handedOverToday,
      keep_contents_days: bodiesDays,
      keep_mails_days: emailsDays,
    });
  printLine(
    unknown === "hold"
      ? `Team ${name}: email with an unknown outcome is on hold until it is resolved with email settle.`
      : `Team ${name}: email with an unknown outcome is sent again.`,
  );
  printLine(
    dailyCap === null
      ? "Daily cap: none."
      : `Daily cap: ${dailyCap} recipients (UTC), ${handedOverToday} used today.`,
  );
  printLine(
    bodiesDays === null
      ? "Message content is stored as long as the message records."
      : `Message content is erased after ${bodiesDays} days.`,
  );
  printLine(
    emailsDays === null
      ? "Message records have no expiry."
      : `Message records are deleted after ${emailsDays} days.`,
  );
}
