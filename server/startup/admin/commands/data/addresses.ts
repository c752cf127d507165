import { exportAddress } from "#server/services/erasures/export";
import {
  type ErasureView,
  findErasures,
  listErasures,
  presentErasure,
  requestErasure,
  requestErasureInAllTeams,
} from "#server/services/erasures/request";
import { findTeam } from "#server/services/teams";
import { type AdminCommand, CommandExit, examples, runInDatabase, TEAM_OPTION } from "../../command";
import { operatorCtx, operatorOf, withDatabase } from "../../session";
import { listOutput, printOutput } from "../../terminal";

type EraseOptions = { team?: string; suppress?: true; json?: true };

/** `address export`, `address erase`, `address erasures`. */
export function addAddressCommands(program: AdminCommand): void {
  const address = program
    .command("address")
    .description("what is stored for a recipient: export it, or erase it everywhere");

  const read = address
    .command("export")
    .description("writes what a team has stored for an address, as lines of JSON")
    .argument(...ADDRESS)
    .option(...TEAM_OPTION)
    .addHelpText(...examples("address export ann@example.com --team Sales > ann.ndjson"));
  read.action(async (text: string, { team }: { team?: string }) => {
    await withDatabase(read.terminal, async ({ deps }) => {
      const found = await findTeam(deps, team);
      for await (const part of exportAddress(operatorCtx(deps, found.id), text)) read.terminal.write(part);
    });
  });

  const erase = address
    .command("erase")
    .description("erases an address in all teams, or in one: emails, content, events, logs, webhooks")
    .argument(...ADDRESS)
    .option("--team <team>", "only this team, by id or name (default: all teams)")
    .option("--suppress", "also suppress it, so that nothing is sent to it again")
    .addHelpText("after", ERASE_HELP);
  erase.action(async (text: string, { team, suppress, json }: EraseOptions) => {
    const { terminal } = erase;
    const failed = await withDatabase(terminal, async ({ deps }) => {
      const input = { address: text, suppresses: suppress === true };
      const { requested, failed } =
        team === undefined
          ? await requestErasureInAllTeams(operatorOf(deps), input)
          : {
              requested: [await requestErasure(operatorCtx(deps, (await findTeam(deps, team)).id), input)],
              failed: [],
            };
      deps.wake();
      const output = {
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
      };
      printOutput(terminal, output, json === true);
      return failed.length;
    });
    if (failed > 0) throw new CommandExit(1);
  });

  const list = address
    .command("erasures")
    .description("lists the erasures of a team, or those of one address in all teams")
    .argument("[address]", "the address: finds its erasures by its hash")
    .option(...TEAM_OPTION);
  runInDatabase(list, async ({ deps }, text: string | undefined, { team }: { team?: string }) => {
    const rows =
      text === undefined
        ? await listErasures({ ...deps, teamId: (await findTeam(deps, team)).id })
        : await findErasures(deps, text);
    return listOutput(rows.map(presentErasure), rowOf, "No erasures.");
  });
}

const rowOf = (erasure: ErasureView) => {
  const {
    requested_at,
    address_hash,
    status,
    done_at,
    waiting,
    waiting_keys,
    fault,
    counts,
    files_not_searched,
  } = erasure;
  return {
    requested_at,
    address_hash,
    status,
    done_at,
    waiting,
    waiting_keys,
    fault,
    files_not_searched,
    counts: Object.entries(counts)
      .map(([table, count]) => `${table} ${count}`)
      .join(", "),
  };
};

const ADDRESS = ["<address>", "email address of the person"] as const;

const ERASE_HELP = `
Emails that wait for the address are canceled. A suppressed address stays suppressed by a hash.
Backups made before contain the address until they are deleted. After restoring one of them, erase the address again.

Examples:
  address erase ann@example.com
  address erase ann@example.com --team Sales --suppress`;
