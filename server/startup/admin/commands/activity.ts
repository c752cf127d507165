import { type LogFilter, listCalls } from "#server/services/logs/read";
import { endpointsMax, listWebhooks } from "#server/services/webhooks/endpoints";
import { presentLogSummary } from "#server/shared/wire/log";
import { presentWebhook } from "#server/shared/wire/webhook";
import { asId, wordOf } from "../arguments";
import { inTeam, option } from "../command";
import { listOutput } from "../terminal";

const STATUSES = {
  rejected: { isRefused: true },
  "2xx": { status: { from: 200, to: 299 } },
  "4xx": { status: { from: 400, to: 499 } },
  "5xx": { status: { from: 500, to: 599 } },
} satisfies Record<string, LogFilter>;
const shownMax = 20;

export const requestCommands = {
  list: inTeam({
    about: `lists a team's newest ${shownMax} requests, and why a key was rejected`,
    params: {
      key: option("id", "only requests with this key, by its id", asId),
      status: option(
        "class",
        `only these: ${Object.keys(STATUSES).join(", ")} (rejected: 401, 403 and 429)`,
        wordOf(Object.keys(STATUSES) as (keyof typeof STATUSES)[]),
      ),
    },
    run: async (ctx, { key, status }, team) => {
      const filter = { ...(key && { apiKeyId: key }), ...(status && STATUSES[status]) };
      const { rows } = await listCalls(ctx, { limit: shownMax, ...filter });
      return listOutput(
        rows.map(presentLogSummary),
        `No such requests of team ${team.name} in the last seven days.`,
        ({ created_at, method, endpoint, response_status, rejection }) => ({
          time: created_at,
          method,
          path: endpoint,
          status: response_status,
          reason: rejection?.detail,
        }),
      );
    },
  }),
};

export const webhookCommands = {
  list: inTeam({
    about: "lists a team's endpoints, newest first",
    run: async (ctx, _values, team) =>
      listOutput(
        (await listWebhooks(ctx, { limit: endpointsMax })).rows.map(presentWebhook),
        `Team ${team.name} has no endpoints. Create one in the console, or by POST /api/webhooks.`,
        ["id", "endpoint", "status", "events", "failing_since"],
      ),
  }),
};
