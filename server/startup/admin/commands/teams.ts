import { Option } from "commander";
import { UNKNOWN_POLICIES, type UnknownPolicy } from "#db/schema/teams";
import type { Deps } from "#server/deps";
import { NEW_TEAM_RETENTION, readRetention, setRetention } from "#server/services/retention";
import { createTeam, findTeam, listTeams, readTeamRules, updateTeam } from "#server/services/teams";
import { presentTeam, type Team } from "#server/shared/wire/people/team";
import { orNull, readDailyCap, readName, readRetentionDays } from "../arguments";
import { type AdminCommand, examples, requireOption, runInDatabase } from "../command";
import { operatorCtx } from "../session";
import { listOutput } from "../terminal";

type SetOptions = {
  unknown?: UnknownPolicy;
  dailyCap?: number | "none";
  keepContents?: number | "always";
  keepEmails?: number | "always";
};

/** `team create`, `team list`, `team set`, `team show`. */
export function addTeamCommands(program: AdminCommand): void {
  const team = program.command("team").description("teams, each with its own keys, domains and emails");

  const create = team
    .command("create")
    .description("creates a team")
    .argument("<name>", "name of the team", readName)
    .addHelpText(...examples("team create Sales", 'team create "Research and development" --json'));
  runInDatabase(create, async ({ deps }, name: string) => {
    const created = await createTeam(deps, { name });
    const kept = `It keeps message content for ${NEW_TEAM_RETENTION.bodiesDays} days. To change that, run: team set --keep-contents DAYS`;
    return { json: created, text: [`Created team ${created.name} (${created.id}).`, kept] };
  });

  const set = team
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
    .option(
      "--keep-contents <days>",
      "erase message content after this many days; or always",
      readRetentionDays,
    )
    .option(
      "--keep-emails <days>",
      "delete message records after this many days; or always",
      readRetentionDays,
    )
    .addHelpText(
      ...examples(
        "team set Sales --unknown hold",
        "team set Sales --daily-cap 10000",
        "team set Sales --keep-contents 90 --keep-emails 730",
      ),
    )
    .hook("preAction", requireOption("--unknown", "--daily-cap", "--keep-contents", "--keep-emails"));
  runInDatabase(set, async ({ deps }, name: string, options: SetOptions) => {
    const { unknown, dailyCap, keepContents, keepEmails } = options;
    const found = await findTeam(deps, name);
    const ctx = operatorCtx(deps, found.id);
    await updateTeam(ctx, { unknown, dailyCap: dailyCap === undefined ? undefined : orNull(dailyCap) });
    if (keepContents !== undefined || keepEmails !== undefined) {
      const { bodiesDays, emailsDays } = await readRetention(ctx);
      await setRetention(ctx, {
        bodiesDays: keepContents === undefined ? bodiesDays : orNull(keepContents),
        emailsDays: keepEmails === undefined ? emailsDays : orNull(keepEmails),
      });
    }
    return { json: await readTeamSettings(deps, found) };
  });

  const show = team
    .command("show")
    .description("shows a team's sending and retention settings, and its usage today")
    .argument("[team]", "id or name of the team (default: the first team)");
  runInDatabase(show, async ({ deps }, name: string | undefined) => ({
    json: await readTeamSettings(deps, await findTeam(deps, name)),
  }));

  const list = team.command("list").description("lists the teams, oldest first");
  runInDatabase(list, async ({ deps }) =>
    listOutput(await listTeams(deps), ({ id, name }) => ({ id, name }), "No teams."),
  );
}

async function readTeamSettings(deps: Deps, { id }: Team) {
  const ctx = { ...deps, teamId: id };
  return presentTeam(await readTeamRules(ctx), await readRetention(ctx));
}
