import { type Command, Option } from "commander";
import { UNKNOWN_POLICIES, type UnknownPolicy } from "#db/schema/teams";
import { createTeam, findTeam, listTeams, setUnknownPolicy } from "#server/services/teams";
import { addJsonOption, readName } from "./arguments";
import { withDatabase } from "./session";
import { say, sayJson, sayTable } from "./terminal";

type Options = { json?: true };

/** `team create`, `team list`, `team set`. */
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
        )
          .choices(UNKNOWN_POLICIES)
          .makeOptionMandatory(),
      ),
  )
    .addHelpText("after", "\nExample:\n  team set Sales --unknown hold")
    .action(async (name: string, options: Options & { unknown: UnknownPolicy }) => {
      await withDatabase(async ({ deps }) => {
        const found = await findTeam(deps, name);
        await setUnknownPolicy(deps, found, options.unknown);
        if (options.json) return sayJson({ ...found, unknown: options.unknown });
        say(
          options.unknown === "hold"
            ? `Mail of team ${found.name} whose outcome is unknown is held until somebody settles it.`
            : `Mail of team ${found.name} whose outcome is unknown is sent again.`,
        );
      });
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
