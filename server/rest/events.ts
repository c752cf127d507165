import { listEvents } from "#server/services/events/feed";
import { withApi } from "./route";
import { EventsQuery, eventsJson } from "./wire/event";

export const getEvents = withApi(
  {
    method: "GET",
    path: "/api/events",
    access: { scope: "events:read" },
    tier: "other",
    summary: "Follow everything that happens to mail, oldest first, without missing anything",
    query: EventsQuery,
  },
  async ({ ctx, query }) => ({ body: eventsJson(await listEvents(ctx, query)) }),
);
