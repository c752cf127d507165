import { endpointsMax, listWebhooks } from "#server/services/webhooks/endpoints";
import { presentWebhook } from "#server/shared/wire/webhook";
import { type AdminCommand, addToAll, runInTeam, TEAM_OPTION } from "../command";
import { listOutput } from "../terminal";

/** `webhook list`. */
export function addWebhookCommands(program: AdminCommand): void {
  const webhook = program.command("webhook").description("endpoints that events are sent to");
  const list = webhook.command("list").description("lists a team's endpoints, newest first");
  runInTeam(list, async (ctx, team) =>
    listOutput(
      (await listWebhooks(ctx, { limit: endpointsMax })).rows.map(presentWebhook),
      ({ id, endpoint, status, events, failing_since }) => ({
        id,
        endpoint,
        status,
        events,
        failing_since,
      }),
      `Team ${team.name} has no endpoints. Create one in the console, or by POST /api/webhooks.`,
    ),
  );
  addToAll(webhook, TEAM_OPTION);
}
