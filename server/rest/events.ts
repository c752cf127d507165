import { listEvents } from "#server/services/events/feed";
import { withApi } from "./pipeline/route";
import { EventsQuery, EventsResponse, eventsJson } from "./wire/event";

export const getEvents = withApi(
  {
    method: "GET",
    path: "/api/events",
    access: { scope: "events:read" },
    tier: "other",
    summary: "List all email events, oldest first, with a cursor that misses none",
    query: EventsQuery,
    example: { query: { type: "email.delivered,email.bounced", limit: "100" } },
    response: EventsResponse,
  },
  async ({ ctx, query }) => ({ body: eventsJson(await listEvents(ctx, query)) }),
);
