import type { Command } from "commander";
import { createTeam, listTeams } from "#server/services/teams";
import { addJsonOption, readName } from "./arguments";
import { withDatabase } from "./session";
import { say, sayJson, sayTable } from "./terminal";

type Options = { json?: true };

/** `team create`, `team list`. */
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
