import { z } from "zod";
import { WEBHOOK_EVENTS, type WebhookEvent } from "./event-types";

/** An endpoint's address; whether it may be called is judged by the guard of what goes out. */
export const EndpointUrl = z
  .string("Must be a URL as a string.")
  .max(2_048, "At most 2048 characters. Shorten it.");

const EVENTS: ReadonlySet<string> = new Set(WEBHOOK_EVENTS);

/** One name of an event. */
export const WebhookEventName = z
  .custom<WebhookEvent>((value) => typeof value === "string", "Must be the name of an event as a string.")
  .superRefine((name, refine) => {
    if (!EVENTS.has(name))
      refine.addIssue({
        code: "custom",
        message: `There is no event "${name.slice(0, 60)}". Known: ${WEBHOOK_EVENTS.join(", ")}.`,
      });
  })
  .meta({ type: "string", enum: [...WEBHOOK_EVENTS] });

/** What an endpoint wants to hear of, each once. */
export const WebhookEventNames = z
  .array(WebhookEventName, 'Must be an array of names: ["email.delivered", "email.bounced"].')
  .max(WEBHOOK_EVENTS.length, "Name each event once.")
  .transform((names) => [...new Set(names)]);
