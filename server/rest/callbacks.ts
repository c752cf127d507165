import { z } from "zod";
import { AppError } from "#server/errors";
import { receiveCallback } from "#server/services/callbacks/receive";
import { RETURN_REASONS } from "./return-reasons";
import { withApi } from "./route";
import { refuseCrowd } from "./tree";
import { requireId } from "./validate";

/** Far more than any provider gathers in one call. */
const bytesMax = 2 * 1024 * 1024;

const REASONS = ["repeated", "outranked", "impossible", "unknown", "later"] as const;

/** What Postmark documents of a bounce, with an address and times of our own. */
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

/** Public: providers hold no key. Each proves its calls as it documents, by what belongs to one relay alone. */
export const postRelayCallback = withApi(
  {
    method: "POST",
    path: "/api/inbound/relays/{relay_id}",
    access: "public",
    tier: "none",
    summary: "Hear what the provider behind a relay tells of the mail that went by it",
    description:
      "For SES (by SNS), Postmark, Mailgun, SendGrid and Resend, each of which proves its calls in its own way; what is not proven is 401 and changes nothing. It touches only mail that this relay was given, and the same may be told again at any time. What cannot be recorded yet is 503, for the provider to come again. `posthorn callback show` tells the address to enter there.",
    params: { relay_id: "Which relay it is." },
    headers: {
      "x-callback-secret": z
        .string()
        .optional()
        .describe(
          "Postmark: the relay's secret, here or as the password of the user `posthorn` by basic authentication. The others sign.",
        ),
    },
    errors: ["unauthorized"],
    example: { body: EXAMPLE, headers: { "x-callback-secret": "the-secret-of-this-relay" } },
    accepts: "application/json",
    acceptsToo: ["text/plain"],
    ifTooLarge: "No provider tells so much in one call.",
    answer: z.object({
      object: z.literal("relay_callback"),
      recorded: z.int().describe("Deliveries that it changed."),
      ignored: z
        .array(z.object({ reason: z.enum(REASONS), reason_text: z.string() }))
        .describe("What of it changed none."),
    }),
  },
  async ({ ctx, params, header, bytes }) => {
    const relayId = requireId(params, "relay_id");
    const body = await readAll(bytes);
    refuseCrowd(body.toString("latin1"));
    const received = await receiveCallback(ctx, relayId, { bytes: body, header });
    if (!received) throw new AppError("unauthorized", "Unauthorized");
    const { recorded, ignored } = received;
    if (ignored.includes("later"))
      throw new AppError("unavailable", "The mail's attempt is not on record yet. Come again in a minute.");
    const reasons = ignored.map((reason) => ({ reason, reason_text: RETURN_REASONS[reason] }));
    return { body: { object: "relay_callback" as const, recorded, ignored: reasons } };
  },
);

/** What is beyond `bytesMax` is taken in, too, so that the caller learns of it. */
async function readAll(bytes: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of bytes) {
    length += chunk.length;
    if (length <= bytesMax) chunks.push(chunk);
  }
  if (length > bytesMax)
    throw new AppError("too_large", "The body is larger than 2 MB. No provider tells so much in one call.");
  return Buffer.concat(chunks);
}
