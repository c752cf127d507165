import { z } from "zod";
import type { FeedEvent, FeedPlace } from "#db/feed";
import { EVENT_TYPES, type EventType } from "#db/schema/events";
import { isId } from "#server/ids";
import { type FeedPage, type FeedQuery, placeOf } from "#server/services/events/feed";
import { EventAnswer, eventJson } from "./email";
import { EMAIL_FILTER } from "./email-query";
import { Id, listOf } from "./shapes";

const limitMax = 1_000;

/** A place in the feed as callers keep it: the position, then the id of the event before it. */
const cursorOf = ({ position, id }: FeedPlace): string => `${position}_${id}`;

const Cursor = z.string().transform((text, refine): FeedPlace => {
  const [, position, id = ""] = /^(\d{1,19})_(.+)$/.exec(text) ?? [];
  if (position !== undefined && isId(id)) return { position: BigInt(position), id };
  refine.addIssue({
    code: "custom",
    message: "Must be the `next` of a page, or the `cursor` of an event, as the service returned it.",
  });
  return z.NEVER;
});

const TYPES: ReadonlySet<string> = new Set(EVENT_TYPES);

const Types = z.string().transform((text, refine): EventType[] => {
  const names = text.split(",");
  const unknown = names.find((name) => !TYPES.has(name));
  if (unknown === undefined) return EVENT_TYPES.filter((type) => names.includes(type));
  refine.addIssue({
    code: "custom",
    message: `There is no event "${unknown.slice(0, 60)}". Known: ${EVENT_TYPES.join(", ")}.`,
  });
  return z.NEVER;
});

/** The query of `GET /api/events`. Oldest first: `after` means later, which is the other way round than in lists. */
export const EventsQuery = z
  .strictObject({
    limit: z
      .string()
      .regex(/^([1-9]\d{0,2}|1000)$/, `Must be a whole number from 1 to ${limitMax}.`)
      .transform(Number)
      .default(100),
    after: Cursor.optional(),
    type: Types.optional(),
    email_id: z.string().refine(isId, "Must be the id of a mail.").optional(),
    recipient: EMAIL_FILTER.recipient,
    since: EMAIL_FILTER.since,
    until: EMAIL_FILTER.until,
  })
  .transform(
    ({ limit, after, type, email_id, recipient, since, until }): FeedQuery => ({
      limit,
      after,
      types: type,
      emailId: email_id,
      recipient,
      since,
      until,
    }),
  );

const FeedEventAnswer = z
  .object({
    object: z.literal("event"),
    ...EventAnswer.shape,
    email_id: Id,
    cursor: z.string().describe("Goes on right behind this event."),
  })
  .meta({ id: "FeedEvent" });

export const EventsAnswer = listOf(FeedEventAnswer).extend({
  next: z.string().describe("`after` of the next call, now or later."),
});

/** A page of the feed. `next` goes on behind it, now or later, also where it is the last. */
export function eventsJson({ events, hasMore, next }: FeedPage): z.infer<typeof EventsAnswer> {
  return { object: "list", has_more: hasMore, next: cursorOf(next), data: events.map(feedEventJson) };
}

const feedEventJson = (event: FeedEvent): z.infer<typeof FeedEventAnswer> => ({
  object: "event",
  ...eventJson(event),
  email_id: event.emailId,
  cursor: cursorOf(placeOf(event)),
});
