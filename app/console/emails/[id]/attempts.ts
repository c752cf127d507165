import type { EmailView, EventView } from "#server/trpc/emails/views";

type Made = Pick<EventView, "id" | "type" | "recipient" | "data">;

/**
 * The number of each attempt among all attempts for its recipient, by the id of its first event; none for a
 * recipient with a single one.
 */
export const numberAttempts = (events: readonly Made[]): Map<string, number> =>
  new Map(
    [...groupAttempts(events).values()].flatMap((ids) =>
      ids.length < 2 ? [] : ids.map((id, place): [string, number] => [id, place + 1]),
    ),
  );

/** The number of attempts for each recipient that has any, by address. */
export const countAttempts = (events: readonly Made[]): Map<string | null, number> =>
  new Map([...groupAttempts(events)].map(([recipient, ids]) => [recipient, ids.length]));

/**
 * The first event of each attempt, by recipient, oldest first. Only that event has the reason. The attempt
 * number of the event does not serve: the engine counts from 1 again after a retry on request. A suppressed
 * recipient has none, because nothing was sent.
 */
function groupAttempts(events: readonly Made[]): Map<string | null, string[]> {
  const made = new Map<string | null, string[]>();
  for (const { id, type, recipient, data } of events)
    if (data.attempt && data.reason !== undefined && type !== "email.suppressed")
      made.set(recipient, [...(made.get(recipient) ?? []), id]);
  return made;
}

const RETRYABLE = new Set(["failed", "bounced", "deferred"]);

/** The recipients to whom the email can be sent again without the risk of a duplicate. */
export const retryableRecipients = ({ recipients }: EmailView) =>
  recipients.filter(({ status }) => RETRYABLE.has(status));
