import { createWebhook } from "#server/services/webhooks/endpoints";
import { sendTestEvent } from "#server/services/webhooks/events/test-event";
import type { Console } from "../../support/console/console";
import type { RoleTeam } from "../../support/console/role-teams";
import type { ProcedureCalls } from "./call";

const url = "https://example.com/hooks";
const type = "email.delivered";

export function webhookCalls({ world }: Console): ProcedureCalls {
  const endpointOf = async ({ ctx }: RoleTeam) =>
    (await createWebhook(ctx, { url, events: [type], status: "enabled" })).id;
  const eventOf = async (party: RoleTeam) => {
    const id = await endpointOf(party);
    return { id, event: (await sendTestEvent(party.ctx, id, type)).id };
  };
  const range = {
    since: "2026-01-01T00:00:00Z",
    until: null,
    status: "failed",
    type: null,
  };
  const aboutEndpoint = {
    input: async (party: RoleTeam) => ({ id: await endpointOf(party) }),
    names: ["id"],
  };

  return {
    "webhooks.list": { input: async () => ({}), names: [] },
    "webhooks.get": aboutEndpoint,
    "webhooks.heldUnknown": { input: async () => ({}), names: [] },
    "webhooks.deliveries": {
      input: async (party) => {
        const { id, event } = await eventOf(party);
        return { id, after: event };
      },
      names: ["id", "after", "before"],
    },
    "webhooks.delivery": { input: eventOf, names: ["id", "event"] },
    "webhooks.create": { input: async () => ({ url, events: [type] }), names: [] },
    "webhooks.update": {
      input: async (party) => ({ id: await endpointOf(party), status: "disabled" }),
      names: ["id"],
    },
    "webhooks.rotate": aboutEndpoint,
    "webhooks.remove": aboutEndpoint,
    "webhooks.test": {
      input: async (party) => ({ id: await endpointOf(party), type }),
      names: ["id"],
    },
    "webhooks.replay": { input: eventOf, names: ["id", "event"] },
    "webhooks.retryPending": {
      input: async (party) => {
        const { id } = await eventOf(party);
        await world.hot`update webhook_deliveries set due_at = now() + interval '1 hour' where webhook_id = ${id}`;
        return { id };
      },
      names: ["id"],
    },
    "webhooks.countRange": {
      input: async (party) => ({ id: await endpointOf(party), ...range }),
      names: ["id"],
    },
    "webhooks.replayRange": {
      input: async (party) => {
        const { id } = await eventOf(party);
        await world.hot`update webhook_deliveries set status = 'failed' where webhook_id = ${id}`;
        return { id, ...range };
      },
      names: ["id"],
    },
  };
}
