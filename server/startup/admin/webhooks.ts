import type { Command } from "commander";
import { endpointsMax, listWebhooks } from "#server/services/webhooks/endpoints";
import { presentWebhook } from "#server/shared/wire/webhook";
import { addJsonOption, addTeamOption } from "./arguments";
import { withTeam } from "./session";
import { formatTime, printJson, printNote, printTable } from "./terminal";

/** `webhook list`. */
export function addWebhookCommands(program: Command): void {
  const webhook = program.command("webhook").description("endpoints that events are sent to");
  addJsonOption(
    addTeamOption(webhook.command("list").description("lists a team's endpoints, newest first")),
  ).action(async (options: { team?: string; json?: true }) => {
    await withTeam(options.team, async (ctx, team) => {
      const { rows } = await listWebhooks(ctx, { limit: endpointsMax });
      const data = rows.map(presentWebhook);
      if (options.json) return printJson({ data });
      if (data.length === 0)
        return printNote(
          `Team ${team.name} has no endpoints. Create one in the console, or by POST /api/webhooks.`,
        );
      printTable(
        ["ID", "ENDPOINT", "STATUS", "EVENTS", "FAILING SINCE"],
        data.map(({ id, endpoint, status, events, failing_since }) => [
          id,
          endpoint,
          status,
          events.join(","),
          failing_since ? formatTime(new Date(failing_since)) : "",
        ]),
      );
    });
  });
}
