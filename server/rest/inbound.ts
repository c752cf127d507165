import { z } from "zod";
import { AppError } from "#server/errors";
import { readBytesMax } from "#server/mail/bounce/mime";
import { type Ignored, receiveMessage } from "#server/services/returns/receive";
import { RETURN_REASONS } from "./return-reasons";
import { withApi } from "./route";

/** Why something changes nothing, in words. */
const REASONS: Record<Ignored, string> = {
  ...RETURN_REASONS,
  auto_reply: "It is an automatic reply, which is no bounce.",
  no_report: "It is no report on a delivery that is known here.",
  no_complaint: "It is feedback that is no complaint.",
  no_failure: "It tells of no failure.",
};

const Query = z.strictObject({
  recipient: z
    .string()
    .max(320, "An address has at most 320 characters.")
    .regex(/^[^\s@]+@[^\s@]+$/, "Give one address: that to which the message came.")
    .optional()
    .describe("The address to which the message came, as its envelope said. Default: what its header says."),
});

const EXAMPLE = [
  "From: MAILER-DAEMON@mx.example.net",
  "To: bounce-2wyksrxhtncx6@bounces.example.com",
  "Message-ID: <20261121100000.A1B2C@mx.example.net>",
  "Content-Type: multipart/report; report-type=delivery-status; boundary=b",
  "",
  "--b",
  "Content-Type: message/delivery-status",
  "",
  "Reporting-MTA: dns; mx.example.net",
  "",
  "Final-Recipient: rfc822; ben@example.com",
  "Action: failed",
  "Status: 5.1.1",
  "--b--",
  "",
].join("\r\n");

/** For whoever receives mail for the return paths elsewhere, or has a mailbox for complaints. */
export const postInboundMessage = withApi(
  {
    method: "POST",
    path: "/api/inbound/message",
    access: "inbound-token",
    tier: "none",
    summary: "Hand in a message that came back: a report on a delivery, or a complaint",
    description:
      "Answered once its effect is committed. What is not proven by a return path or a link of ours never suppresses anybody. The same message may be handed in again at any time.",
    query: Query,
    example: { body: EXAMPLE, query: { recipient: "bounce-2wyksrxhtncx6@bounces.example.com" } },
    accepts: "message/rfc822",
    answer: z.object({
      object: z.literal("inbound_message"),
      kind: z.enum(["delivery", "complaint", "auto-reply", "other"]).describe("What the message is."),
      recorded: z.int().describe("Deliveries that it changed."),
      ignored: z
        .array(
          z.object({
            reason: z.enum(Object.keys(REASONS) as [Ignored, ...Ignored[]]),
            reason_text: z.string(),
          }),
        )
        .describe("What of it changed none."),
    }),
  },
  async ({ ctx, query: { recipient }, bytes }) => {
    const received = await receiveMessage(ctx, {
      bytes: await readBeginning(bytes),
      recipient: recipient ?? null,
    });
    if (!received)
      throw new AppError("invalid", "The body is no mail message: it has no header. Send it as it came.");
    const { kind, recorded, ignored } = received;
    if (ignored.includes("later"))
      throw new AppError("unavailable", `${REASONS.later} Hand it in again in a minute.`);
    const reasons = ignored.map((reason) => ({ reason, reason_text: REASONS[reason] }));
    return { body: { object: "inbound_message" as const, kind, recorded, ignored: reasons } };
  },
);

/** What is read of a message; the rest is taken in and forgotten. */
async function readBeginning(bytes: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of bytes) {
    if (length < readBytesMax) chunks.push(chunk.subarray(0, readBytesMax - length));
    length += chunk.length;
  }
  return Buffer.concat(chunks);
}
