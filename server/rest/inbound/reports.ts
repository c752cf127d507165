import { z } from "zod";
import { expandedBytesMax, filesMax } from "#server/mail/aggregate/expand";
import { depthMax, recordsMax } from "#server/mail/aggregate/report";
import { readBeginning } from "#server/mail/bounce/mime";
import { AppError } from "#server/platform/errors";
import { reportsPerDayMax } from "#server/services/reports/receive";
import { keptDays } from "#server/services/reports/retention";
import { type Ignored, receiveMessage } from "#server/services/returns/receive";
import { withApi } from "../pipeline/route";
import { RETURN_REASONS } from "./return-reasons";

/** Why a message changes nothing, as text. */
const REASONS: Record<Ignored, string> = {
  ...RETURN_REASONS,
  auto_reply: "The message is an automatic reply and does not identify a delivery.",
  unproven:
    "The complaint contains nothing that proves that it is about this email: no return path, Feedback-ID or unsubscribe link of the recipient's copy, and no header with a valid DKIM signature.",
  no_report: "The message does not report on a known delivery.",
  no_complaint: "The message is not a complaint.",
  no_failure: "The report contains no failure.",
  no_aggregate: "The message contains no DMARC or TLS report.",
  other_domain: "The report is not about the domain of this address.",
  out_of_range: `The report is about a period more than ${keptDays} days ago, or in the future.`,
  too_many_reports: `The domain received ${reportsPerDayMax} reports within 24 hours. Further ones are not recorded.`,
  too_large: `The files of the message have more than ${expandedBytesMax / 1024 / 1024} MB when they are expanded.`,
  too_many_files: `The message has more than ${filesMax} files.`,
  too_many_records: `The report has more than ${recordsMax.toLocaleString("en")} records.`,
  too_deep: `The report is nested more than ${depthMax} levels deep.`,
  doctype: "The report has a document type, which can define entities. Reports have none.",
  unreadable: "A file is damaged, incomplete or no report. Of a message, the first MB is read.",
};

const Query = z.strictObject({
  recipient: z
    .string()
    .max(320, "An address has at most 320 characters.")
    .regex(/^[^\s@]+@[^\s@]+$/, "Must be one address: the recipient of the message.")
    .optional()
    .describe("The envelope recipient of the message. Default: the recipient in its header."),
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

export const returnRoutes = [
  /**
   * For operators who receive email for the return paths on another server, or who have a mailbox for
   * complaints.
   */
  withApi({
    route: "POST /api/inbound/message",
    access: "inbound-token",
    tier: "none",
    summary:
      "Submit a returned message: a delivery report, a complaint, an automatic reply, or a DMARC or TLS report",
    description:
      "Responds after its effect is committed. A report that no return path, Feedback-ID or link of this installation verifies never suppresses an address; a complaint without one counts only with a header that this installation signed. Submitting the same message again has no effect.",
    query: Query,
    example: { body: EXAMPLE, query: { recipient: "bounce-2wyksrxhtncx6@bounces.example.com" } },
    accepts: "message/rfc822",
    response: z.object({
      object: z.literal("inbound_message"),
      kind: z
        .enum(["delivery", "complaint", "aggregate", "auto-reply", "other"])
        .describe("The kind of the message."),
      recorded: z
        .int()
        .describe("Number of deliveries that changed, or of aggregate reports that were recorded."),
      ignored: z
        .array(
          z.object({
            reason: z.enum(Object.keys(REASONS) as [Ignored, ...Ignored[]]),
            reason_text: z.string(),
          }),
        )
        .describe("The reports that changed nothing."),
    }),
    handle: async ({ ctx, query: { recipient }, bytes }) => {
      const received = await receiveMessage(ctx, {
        bytes: await readBeginning(bytes),
        recipients: recipient === undefined ? [] : [recipient],
      });
      if (!received)
        throw new AppError(
          "invalid",
          "The body is not an email message: it has no header. Send the message unchanged.",
        );
      const { kind, recorded, ignored } = received;
      if (ignored.includes("later"))
        throw new AppError("unavailable", `${REASONS.later} Submit it again in one minute.`);
      const reasons = ignored.map((reason) => ({ reason, reason_text: REASONS[reason] }));
      return { object: "inbound_message" as const, kind, recorded, ignored: reasons };
    },
  }),
];
