import { listEvents } from "#server/services/events/feed";
import { withApi } from "./pipeline/route";
import { EventsQuery, EventsResponse, eventsJson } from "./wire/event";

export const eventRoutes = [
  withApi(
    {
      route: "GET /api/events",
      access: { scope: "events:read" },
      summary: "List all email events, oldest first, with a cursor that misses none",
      query: EventsQuery,
      example: { query: { type: "email.delivered,email.bounced", limit: "100" } },
      response: EventsResponse,
    },
    async ({ ctx, query }) => eventsJson(await listEvents(ctx, query)),
  ),
];
