import { type Command, Option } from "commander";
import { UNKNOWN_POLICIES, type UnknownPolicy } from "#db/schema/teams";
import type { Deps } from "#server/deps";
import { readRetention, setRetention } from "#server/services/retention";
import {
  changeTeam,
  createTeam,
  findTeam,
  listTeams,
  readTeamRules,
  type Team,
} from "#server/services/teams";
import { addJsonOption, readDailyCap, readKeptDays, readName } from "./arguments";
import { withDatabase, withTeam } from "./session";
import { say, sayJson, sayTable } from "./terminal";

type Options = { json?: true };
type SetOptions = Options & {
  unknown?: UnknownPolicy;
  dailyCap?: number | "none";
  keepContents?: number | "always";
  keepMails?: number | "always";
};

/** `team create`, `team list`, `team set`, `team show`. */
export function addTeamCommands(program: Command): void {
  const team = program.command("team").description("teams: each has its own keys, domains and mails");

  addJsonOption(
    team.command("create").description("makes a team").argument("<name>", "what people call it", readName),
  )
    .addHelpText("after", '\nExamples:\n  team create Sales\n  team create "Research and development" --json')
    .action(async (name: string, options: Options) => {
      await withDatabase(async ({ deps }) => {
        const made = await createTeam(deps, { name });
        if (options.json) return sayJson(made);
        say(`Made team ${made.name} (${made.id}).`);
      });
    });

  addJsonOption(
    team
      .command("set")
      .description("changes how a team's mail is treated")
      .argument("<team>", "its id or name")
      .addOption(
        new Option(
          "--unknown <policy>",
          "mail of unknown outcome: retry sends it again, hold waits for a decision",
        ).choices(UNKNOWN_POLICIES),
      )
      .option(
        "--daily-cap <number>",
        "recipients a day (UTC), from all its domains together; what comes above waits for the next day; or none",
        readDailyCap,
      )
      .option("--keep-contents <days>", "erase what mails say after so many days; or always", readKeptDays)
      .option("--keep-mails <days>", "delete mails whole after so many days; or always", readKeptDays),
  )
    .addHelpText(
      "after",
      "\nExamples:\n  team set Sales --unknown hold\n  team set Sales --daily-cap 10000\n  team set Sales --keep-contents 90 --keep-mails 730",
    )
    .action(async (name: string, options: SetOptions, command: Command) => {
      const { unknown, dailyCap, keepContents, keepMails } = options;
      if ([unknown, dailyCap, keepContents, keepMails].every((option) => option === undefined))
        command.error("error: give --unknown, --daily-cap, --keep-contents or --keep-mails");
      await withTeam(name, async (ctx, found) => {
        await changeTeam(ctx, {
          ...(unknown === undefined ? {} : { unknown }),
          ...(dailyCap === undefined ? {} : { dailyCap: dailyCap === "none" ? null : dailyCap }),
        });
        if (keepContents !== undefined || keepMails !== undefined) {
          const kept = await readRetention(ctx);
          await setRetention(ctx, {
            bodiesDays: daysOf(keepContents, kept.bodiesDays),
            emailsDays: daysOf(keepMails, kept.emailsDays),
          });
        }
        await showRules(ctx, found, options);
      });
    });

  addJsonOption(
    team
      .command("show")
      .description("shows how a team's mail is treated, and what it has used of its day")
      .argument("[team]", "its id or name (default: the first team)"),
  ).action(async (name: string | undefined, options: Options) => {
    await withDatabase(async ({ deps }) => showRules(deps, await findTeam(deps, name), options));
  });

  addJsonOption(team.command("list").description("lists the teams, the first one first")).action(
    async (options: Options) => {
      await withDatabase(async ({ deps }) => {
        const teams = await listTeams(deps);
        if (options.json) return sayJson({ data: teams });
        sayTable(
          ["ID", "NAME"],
          teams.map(({ id, name }) => [id, name]),
        );
      });
    },
  );
}

const daysOf = (given: number | "always" | undefined, kept: number | null): number | null =>
  given === undefined ? kept : given === "always" ? null : given;

async function showRules(deps: Deps, team: Team, options: Options): Promise<void> {
  const { id, name, unknown, dailyCap, handedOverToday } = await readTeamRules({ ...deps, teamId: team.id });
  const { bodiesDays, emailsDays } = await readRetention({ ...deps, teamId: team.id });
  if (options.json)
    return sayJson({
      id,
      name,
      unknown,
      daily_cap: dailyCap,
      handed_over_today: dailyCap === null ? null : handedOverToday,
      keep_contents_days: bodiesDays,
      keep_mails_days: emailsDays,
    });
  say(
    unknown === "hold"
      ? `Mail of team ${name} whose outcome is unknown is held until somebody settles it.`
      : `Mail of team ${name} whose outcome is unknown is sent again.`,
  );
  say(
    dailyCap === null
      ? "It may write to any number of recipients a day."
      : `It may write to ${dailyCap} recipients a day (UTC); today it has written to ${handedOverToday}.`,
  );
  say(
    bodiesDays === null
      ? "What its mails say is kept as long as they are."
      : `What its mails say is erased after ${bodiesDays} days.`,
  );
  say(
    emailsDays === null ? "Its mails are kept for good." : `Its mails are deleted after ${emailsDays} days.`,
  );
}
