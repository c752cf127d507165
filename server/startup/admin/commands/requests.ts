import { Option } from "commander";
import { type LogFilter, listCalls } from "#server/services/logs/read";
import { presentLogSummary } from "#server/shared/wire/log";
import { readId } from "../arguments";
import { type AdminCommand, addToAll, examples, runInTeam, TEAM_OPTION } from "../command";
import { listOutput } from "../terminal";

type Options = { key?: string; status?: keyof typeof STATUSES };

const STATUSES = {
  rejected: { isRefused: true },
  "2xx": { status: { from: 200, to: 299 } },
  "4xx": { status: { from: 400, to: 499 } },
  "5xx": { status: { from: 500, to: 599 } },
} satisfies Record<string, LogFilter>;
const shownMax = 20;

/** `request list`. */
export function addRequestCommands(program: AdminCommand): void {
  const request = program.command("request").description("API requests and SMTP submissions of seven days");
  const list = request
    .command("list")
    .description(`lists a team's newest ${shownMax} requests, and why a key was rejected`)
    .option("--key <id>", "only requests with this key, by its id", readId)
    .addOption(
      new Option("--status <class>", "only these; rejected: 401, 403 and 429").choices(Object.keys(STATUSES)),
    )
    .addHelpText(...examples("request list --status rejected"));
  runInTeam(list, async (ctx, team, { key, status }: Options) => {
    const { rows } = await listCalls(ctx, {
      limit: shownMax,
      ...(key !== undefined && { apiKeyId: key }),
      ...(status !== undefined && STATUSES[status]),
    });
    return listOutput(
      rows.map(presentLogSummary),
      ({ created_at, method, endpoint, response_status, rejection }) => ({
        time: created_at,
        method,
        path: endpoint,
        status: response_status,
        reason: rejection?.detail,
      }),
      `No such requests of team ${team.name} in the last seven days.`,
    );
  });
  addToAll(request, TEAM_OPTION);
}
