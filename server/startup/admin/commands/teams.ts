import { InvalidArgumentError, Option } from "commander";
import { UNKNOWN_POLICIES, type UnknownPolicy } from "#db/schema/teams";
import type { Deps } from "#server/deps";
import { NEW_TEAM_RETENTION, readRetention, setRetention } from "#server/services/retention";
import {
  cancelTeamDeletion,
  deletionDays,
  listDeletions,
  presentDeletion,
  requestTeamDeletion,
} from "#server/services/team-deletions/request";
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

/** `team create`, `team list`, `team set`, `team show`, `team delete`, `team keep`, `team deletions`. */
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

  const remove = team
    .command("delete")
    .description("deletes a team with all its email after a waiting period, in which it sends nothing")
    .argument(...TEAM)
    .option(
      "--days <number>",
      `the waiting period in days, ${deletionDays.min} to ${deletionDays.max}`,
      readDays,
      deletionDays.default,
    )
    .addHelpText(...examples("team delete Sales", "team delete Sales --days 30"));
  runInDatabase(remove, async ({ deps }, name: string, { days }: { days: number }) => {
    const { id, name: confirm } = await findTeam(deps, name);
    const deletion = presentDeletion(await requestTeamDeletion(operatorCtx(deps, id), { confirm, days }));
    return {
      json: deletion,
      text: [
        `Team ${confirm} will be deleted at ${deletion.deletes_at}. Its API keys, email and webhooks are stopped.`,
      ],
      notes: [`Until then, team keep cancels it.`],
    };
  });

  const keep = team
    .command("keep")
    .description("cancels the deletion of a team")
    .argument(...TEAM);
  runInDatabase(keep, async ({ deps }, name: string) => {
    const { id, name: found } = await findTeam(deps, name);
    const deletion = presentDeletion(await cancelTeamDeletion(operatorCtx(deps, id)));
    return { json: deletion, text: [`Canceled the deletion of team ${found}.`] };
  });

  const deletions = team
    .command("deletions")
    .description("lists requested, canceled and completed deletions of teams, with what was deleted");
  runInDatabase(deletions, async ({ deps }) =>
    listOutput(
      (await listDeletions(deps)).map(presentDeletion),
      ({ team_name, status, requested_by, requested_at, deletes_at, ended_at, counts, fault }) => ({
        team: team_name,
        status,
        requested_by,
        requested_at,
        deletes_at,
        ended_at,
        rows: Object.values(counts).reduce((sum, count) => sum + count, 0),
        fault,
      }),
      "No deletions.",
    ),
  );

  const list = team.command("list").description("lists the teams, oldest first");
  runInDatabase(list, async ({ deps }) =>
    listOutput(await listTeams(deps), ({ id, name }) => ({ id, name }), "No teams."),
  );
}

async function readTeamSettings(deps: Deps, { id }: Team) {
  const ctx = { ...deps, teamId: id };
  return presentTeam(await readTeamRules(ctx), await readRetention(ctx));
}

function readDays(text: string): number {
  const days = Number(text);
  if (Number.isInteger(days) && days >= deletionDays.min && days <= deletionDays.max) return days;
  throw new InvalidArgumentError(`Enter ${deletionDays.min} to ${deletionDays.max}.`);
}

const TEAM = ["<team>", "id or name of the team"] as const;
