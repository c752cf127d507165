import { UNKNOWN_POLICIES } from "#db/schema/teams";
import type { Deps } from "#server/deps";
import { recipientsMax } from "#server/services/domains/caps";
import { getRetention, NEW_TEAM_RETENTION, retentionDaysMax, setRetention } from "#server/services/retention";
import {
  cancelTeamDeletion,
  deletionDays,
  listDeletions,
  presentDeletion,
  requestTeamDeletion,
} from "#server/services/team-deletions/request";
import { createTeam, findTeam, getTeamRules, listTeams, updateTeam } from "#server/services/teams";
import { presentTeam, type Team } from "#server/shared/wire/people/team";
import { asName, asText, numberOf, orWord, wordOf } from "../arguments";
import { argument, inDatabase, option, optionalArgument, optionWithDefault } from "../command";
import { operatorCtx } from "../session";
import { listOutput, output } from "../terminal";

const team = argument("id or name of the team", asText);
const asDays = orWord("always", numberOf(1, retentionDaysMax));

export const teamCommands = {
  create: inDatabase({
    about: "creates a team",
    params: { name: argument("name of the team", asName) },
    run: async ({ deps }, { name }) => {
      const created = await createTeam(deps, { name });
      const kept = `It keeps message content for ${NEW_TEAM_RETENTION.bodiesDays} days. To change that, run: team set --keep-contents DAYS`;
      return output(created, `Created team ${created.name} (${created.id}).`, kept);
    },
  }),

  list: inDatabase({
    about: "lists the teams, oldest first",
    run: async ({ deps }) => listOutput(await listTeams(deps), "No teams.", ["id", "name"]),
  }),

  set: inDatabase({
    about: "changes a team's sending and retention settings",
    params: {
      team,
      unknown: option(
        "policy",
        "email with an unknown outcome: retry sends it again; hold waits for email settle",
        wordOf(UNKNOWN_POLICIES),
      ),
      dailyCap: option(
        "number",
        "recipients per day (UTC) for all domains together; further email is sent the next day; or none",
        orWord("none", numberOf(0, recipientsMax)),
      ),
      keepContents: option("days", "erase message content after this many days; or always", asDays),
      keepEmails: option("days", "delete message records after this many days; or always", asDays),
    },
    needsOneOf: ["unknown", "dailyCap", "keepContents", "keepEmails"],
    run: async ({ deps }, { team, unknown, dailyCap, keepContents, keepEmails }) => {
      const found = await findTeam(deps, team);
      const ctx = operatorCtx(deps, found.id);
      await updateTeam(ctx, { unknown, dailyCap });
      if (keepContents !== undefined || keepEmails !== undefined) {
        const { bodiesDays, emailsDays } = await getRetention(ctx);
        await setRetention(ctx, {
          bodiesDays: keepContents === undefined ? bodiesDays : keepContents,
          emailsDays: keepEmails === undefined ? emailsDays : keepEmails,
        });
      }
      return output(await readSettings(deps, found));
    },
  }),

  show: inDatabase({
    about: "shows a team's sending and retention settings, and its usage today",
    params: { team: optionalArgument("id or name of the team (default: the first team)", asText) },
    run: async ({ deps }, { team }) => ({ json: await readSettings(deps, await findTeam(deps, team)) }),
  }),

  delete: inDatabase({
    about: "deletes a team with all its email after a waiting period, in which it sends nothing",
    params: {
      team,
      days: optionWithDefault(
        "number",
        "the waiting period in days",
        numberOf(deletionDays.min, deletionDays.max),
        deletionDays.default,
      ),
    },
    run: async ({ deps }, { team, days }) => {
      const { id, name } = await findTeam(deps, team);
      const json = presentDeletion(await requestTeamDeletion(operatorCtx(deps, id), { confirm: name, days }));
      return {
        json,
        text: [
          `Team ${name} will be deleted at ${json.deletes_at}. Its API keys, email and webhooks are stopped.`,
        ],
        notes: ["Until then, team keep cancels it."],
      };
    },
  }),

  keep: inDatabase({
    about: "cancels the deletion of a team",
    params: { team },
    run: async ({ deps }, { team }) => {
      const { id, name } = await findTeam(deps, team);
      const json = presentDeletion(await cancelTeamDeletion(operatorCtx(deps, id)));
      return output(json, `Canceled the deletion of team ${name}.`);
    },
  }),

  deletions: inDatabase({
    about: "lists requested, canceled and completed deletions of teams, with what was deleted",
    run: async ({ deps }) => listOutput((await listDeletions(deps)).map(presentDeletion), "No deletions."),
  }),
};

async function readSettings(deps: Deps, { id }: Team) {
  const ctx = { ...deps, teamId: id };
  return presentTeam(await getTeamRules(ctx), await getRetention(ctx));
}
