import { z } from "zod";
import { WEBHOOK_EVENTS, type WebhookEvent } from "./events/types";

/** The URL of an endpoint. The SSRF guard checks separately whether it may be called. */
export const EndpointUrl = z
  .string("Must be a URL as a string.")
  .max(2_048, "At most 2048 characters. Shorten it.");

const EVENTS: ReadonlySet<string> = new Set(WEBHOOK_EVENTS);

/** The name of one event type. */
export const WebhookEventName = z
  .custom<WebhookEvent>((value) => typeof value === "string", "Must be the name of an event as a string.")
  .superRefine((name, refine) => {
    if (!EVENTS.has(name))
      refine.addIssue(`Unknown event "${name.slice(0, 60)}". Valid events: ${WEBHOOK_EVENTS.join(", ")}.`);
  })
  .meta({ type: "string", enum: [...WEBHOOK_EVENTS] });

/** The events that an endpoint subscribes to, without duplicates. */
export const WebhookEventNames = z
  .array(WebhookEventName, 'Must be an array of names: ["email.delivered", "email.bounced"].')
  .max(WEBHOOK_EVENTS.length, "List each event once.")
  .transform((names) => [...new Set(names)]);
