import { z } from "zod";
import { EVENT_TYPES, type EventType } from "#db/schema/events";
import { isId } from "#server/platform/ids";
import { EMAIL_FILTER } from "#server/services/emails/read/filter";
import {
  type FeedEvent,
  type FeedPage,
  type FeedPosition,
  type FeedQuery,
  listEvents,
  positionOf,
} from "#server/services/events/feed";
import { EventResponse, presentEvent } from "#server/shared/wire/email";
import { Id, listOf } from "#server/shared/wire/shapes";
import { withApi } from "./pipeline/route";

const limitMax = 1_000;

/** A position in the feed as an opaque cursor: the position, then the id of the event before it. */
const cursorOf = ({ position, id }: FeedPosition): string => `${position}_${id}`;

const Cursor = z.string().transform((text, refine): FeedPosition => {
  const [, position, id = ""] = /^(\d{1,19})_(.+)$/.exec(text) ?? [];
  if (position !== undefined && isId(id)) return { position: BigInt(position), id };
  refine.addIssue("Must be the `next` of a page, or the `cursor` of an event, as the service returned it.");
  return z.NEVER;
});

const TYPES: ReadonlySet<string> = new Set(EVENT_TYPES);

const Types = z.string().transform((text, refine): EventType[] => {
  const names = text.split(",");
  const unknown = names.find((name) => !TYPES.has(name));
  if (unknown === undefined) return EVENT_TYPES.filter((type) => names.includes(type));
  refine.addIssue(`Unknown event "${unknown.slice(0, 60)}". Known: ${EVENT_TYPES.join(", ")}.`);
  return z.NEVER;
});

/**
 * The query of `GET /api/email-events`. Events are sorted oldest first: `after` returns later rows, unlike in
 * lists.
 */
export const EventsQuery = z
  .strictObject({
    limit: z
      .string()
      .regex(/^([1-9]\d{0,2}|1000)$/, `Must be a whole number from 1 to ${limitMax}.`)
      .transform(Number)
      .default(100)
      .describe("Events per page, 1 to 1,000."),
    after: Cursor.optional().describe(
      "The `cursor` of the last event of a page. Returns the next, newer events.",
    ),
    type: Types.optional().describe("Only events of these types, separated by commas."),
    email_id: z
      .string()
      .refine(isId, "Must be the id of an email.")
      .optional()
      .describe("Only events of this email."),
    recipient: EMAIL_FILTER.recipient,
    since: EMAIL_FILTER.since,
    until: EMAIL_FILTER.until,
  })
  .transform(({ type: types, email_id: emailId, ...query }): FeedQuery => ({ ...query, types, emailId }));

const FeedEventResponse = z
  .object({
    object: z.literal("event"),
    ...EventResponse.shape,
    email_id: Id,
    cursor: z.string().describe("Send it as `after` to continue after this event."),
  })
  .meta({ id: "FeedEvent" });

export const EventsResponse = listOf(FeedEventResponse).extend({
  next: z.string().describe("Send it as `after` in the next call, immediately or later."),
});

/** A page of the feed. `next` continues after it, also on the last page, where later events will follow. */
export function eventsJson({ events, hasMore, next }: FeedPage): z.infer<typeof EventsResponse> {
  return { object: "list", has_more: hasMore, next: cursorOf(next), data: events.map(feedEventJson) };
}

const feedEventJson = (event: FeedEvent): z.infer<typeof FeedEventResponse> => ({
  object: "event",
  ...presentEvent(event),
  email_id: event.emailId,
  cursor: cursorOf(positionOf(event)),
});

export const eventRoutes = [
  withApi({
    route: "GET /api/email-events",
    access: { scope: "events:read" },
    summary: "List all email events, oldest first, with a cursor that misses none",
    query: EventsQuery,
    example: { query: { type: "email.delivered,email.bounced", limit: "100" } },
    response: EventsResponse,
    handle: async ({ ctx, query }) => eventsJson(await listEvents(ctx, query)),
  }),
];
