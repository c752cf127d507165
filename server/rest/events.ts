import { listEvents } from "#server/services/events/feed";
import { withApi } from "./route";
import { EventsAnswer, EventsQuery, eventsJson } from "./wire/event";

export const getEvents = withApi(
  {
    method: "GET",
    path: "/api/events",
    access: { scope: "events:read" },
    tier: "other",
    summary: "Follow everything that happens to mail, oldest first, without missing anything",
    query: EventsQuery,
    example: { query: { type: "email.delivered,email.bounced", limit: "100" } },
    answer: EventsAnswer,
  },
  async ({ ctx, query }) => ({ body: eventsJson(await listEvents(ctx, query)) }),
);
