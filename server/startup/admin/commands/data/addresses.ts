import { exportAddress } from "#server/services/erasures/export";
import {
  findErasures,
  listErasures,
  presentErasure,
  requestErasure,
  requestErasureInAllTeams,
} from "#server/services/erasures/request";
import { findTeam } from "#server/services/teams";
import { asText } from "../../arguments";
import { argument, command, examples, flag, inDatabase, option, optionalArgument } from "../../command";
import { operatorCtx, operatorOf, withDatabase } from "../../session";
import { listOutput } from "../../terminal";

const address = argument("email address of the person", asText);
const team = option("team", "id or name of the team (default: the first team)", asText);

export const addressCommands = {
  export: command({
    about: "writes what a team has stored for an address, as lines of JSON",
    params: { address, team },
    help: examples("address export ann@example.com --team Sales > ann.ndjson"),
    run: (terminal, { address, team }) =>
      withDatabase(terminal, async ({ deps }): Promise<undefined> => {
        const ctx = operatorCtx(deps, (await findTeam(deps, team)).id);
        for await (const part of exportAddress(ctx, address)) terminal.write(part);
      }),
  }),

  erase: inDatabase({
    about: "erases an address in all teams, or in one: emails, content, events, logs, webhooks",
    params: {
      address,
      team: option("team", "only this team, by id or name (default: all teams)", asText),
      suppress: flag("also suppress it, so that nothing is sent to it again"),
    },
    help: "\nBackups made before contain the address until they are deleted. After restoring one of them, erase it again.",
    run: async ({ deps }, { address, team, suppress }) => {
      const input = { address, suppresses: suppress };
      const { requested, failed } =
        team === undefined
          ? await requestErasureInAllTeams(operatorOf(deps), input)
          : {
              requested: [await requestErasure(operatorCtx(deps, (await findTeam(deps, team)).id), input)],
              failed: [],
            };
      deps.wake();
      return {
        json: {
          data: requested.map(presentErasure),
          failed: failed.map(({ teamId, fault }) => ({ team_id: teamId, fault })),
        },
        text: [
          `Requested the erasure in ${requested.length === 1 ? "one team" : `${requested.length} teams`}. The worker does it within minutes.`,
        ],
        notes: [
          ...failed.map(
            ({ teamName, fault }) => `Not requested in team ${teamName}: ${fault}. Run it again.`,
          ),
          "address erasures shows the progress and the receipts.",
        ],
        exitCode: failed.length > 0 ? 1 : 0,
      };
    },
  }),

  erasures: inDatabase({
    about: "lists the erasures of a team, or those of one address in all teams",
    params: { address: optionalArgument("the address: finds its erasures by its hash", asText), team },
    run: async ({ deps }, { address, team }) => {
      const rows =
        address === undefined
          ? await listErasures({ ...deps, teamId: (await findTeam(deps, team)).id })
          : await findErasures(deps, address);
      return listOutput(rows.map(presentErasure), "No erasures.");
    },
  }),
};
