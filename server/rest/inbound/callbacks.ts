import { buffer } from "node:stream/consumers";
import { z } from "zod";
import { AppError } from "#server/platform/errors";
import { findCallbackRelay, receiveCallback } from "#server/services/callbacks/receive";
import { rejectOversizedTree } from "../body/tree";
import { withApi } from "../pipeline/route";
import { requireId } from "../pipeline/validate";
import { RETURN_REASONS } from "./return-reasons";

/** Far more than any provider sends in one call. */
const bytesMax = 2 * 1024 * 1024;

const REASONS = ["repeated", "outranked", "impossible", "unknown", "later"] as const;

/** Postmark's documented bounce, with other addresses and times. */
const EXAMPLE = JSON.stringify({
  RecordType: "Bounce",
  ID: 42,
  Type: "HardBounce",
  TypeCode: 1,
  Name: "Hard bounce",
  MessageID: "00000000-0000-0000-0000-000000000000",
  ServerID: 1234,
  MessageStream: "outbound",
  Description: "The server was unable to deliver the message.",
  Details: "smtp;550 5.1.1 No such user",
  Email: "ben@example.com",
  From: "ann@example.com",
  BouncedAt: "2026-01-05T16:33:54Z",
});

export const callbackRoutes = [
  /**
   * Public: providers have no API key. Each authenticates its calls as it documents, with a secret of one
   * relay.
   */
  withApi({
    route: "POST /api/inbound/relays/{relay_id}",
    access: "public",
    tier: "none",
    summary: "Receive delivery reports from the provider of a relay",
    description:
      "Supports SES (by SNS), Postmark, Mailgun, SendGrid, Resend, Brevo, Mailjet, SparkPost, Scaleway (by its topics) and MailerSend. Each provider authenticates its calls in its own way; an unauthenticated call is rejected with 401 and changes nothing. A report affects only email sent by this relay, and a repeated report has no effect. A report that cannot be recorded yet returns 503, and the provider retries. `backstamp callback show` prints the URL to enter at the provider.",
    params: { relay_id: "The id of the relay." },
    headers: {
      "x-callback-secret": z
        .string()
        .optional()
        .describe(
          "Only for Postmark, Brevo, Mailjet and SparkPost: the relay's secret. Alternatively send it as the password of the user `backstamp` with basic authentication, or as a bearer token. The other providers sign their calls.",
        ),
    },
    errors: ["unauthorized"],
    example: { body: EXAMPLE, headers: { "x-callback-secret": "the-secret-of-this-relay" } },
    accepts: "application/json",
    acceptsToo: ["text/plain"],
    bodyMaxBytes: bytesMax,
    ifTooLarge: "Send fewer reports in one call.",
    response: z.object({
      object: z.literal("relay_callback"),
      recorded: z.int().describe("Number of deliveries that changed, and of unsubscribes."),
      ignored: z
        .array(z.object({ reason: z.enum(REASONS), reason_text: z.string() }))
        .describe("The reports that changed no delivery."),
    }),
    handle: async ({ ctx, params, header, bytes }) => {
      // Before the body is read, because the route is public.
      const relay = await findCallbackRelay(ctx, requireId(params, "relay_id"), header);
      if (!relay) throw unauthorized();
      const body = await buffer(bytes);
      rejectOversizedTree(body.toString("latin1"));
      const received = await receiveCallback(ctx, relay, { bytes: body, header });
      if (!received) throw unauthorized();
      const { recorded, ignored } = received;
      if (ignored.includes("later"))
        throw new AppError("unavailable", "The delivery attempt is not recorded yet. Retry in one minute.");
      const reasons = ignored.map((reason) => ({ reason, reason_text: RETURN_REASONS[reason] }));
      return { object: "relay_callback" as const, recorded, ignored: reasons };
    },
  }),
];

const unauthorized = () => new AppError("unauthorized", "Unauthorized");
