import { z } from "zod";
import { SUPPRESSION_ORIGINS } from "#db/schema/suppressions";
import { parseMailbox } from "#server/mail/address/address";
import { AppError } from "#server/platform/errors";
import { isId } from "#server/platform/ids";
import { absent, MailboxText } from "#server/services/emails/accept/message-input";
import type { SuppressionName } from "#server/services/suppressions/read";
import { listQuery } from "../pipeline/query";

const batchMax = 100;

const Address = MailboxText.transform(({ address }) => address);
const list = <T extends z.ZodType>(item: T, what: string) =>
  z.preprocess(
    absent,
    z
      .array(item, `Must be an array of 1 to ${batchMax} ${what}.`)
      .max(batchMax, `At most ${batchMax} ${what} per call.`),
  );
const Addresses = list(Address, "addresses");
const Ids = list(z.string("Must be a string.").refine(isId, "Must be the id of a suppression."), "ids");

/** The body of `POST /api/suppressions`. */
export const AddSuppressionBody = z.strictObject({ email: z.preprocess(absent, Address) });

/** The body of `POST /api/suppressions/batch/add`. */
export const AddSuppressionsBody = z.strictObject({ emails: Addresses });

/** The body of `POST /api/suppressions/batch/remove`: either `emails` or `ids`. */
export const RemoveSuppressionsBody = z
  .strictObject({ emails: Addresses.optional(), ids: Ids.optional() })
  .superRefine(({ emails, ids }, refine) => {
    if ((emails === undefined) === (ids === undefined))
      refine.addIssue({ code: "custom", message: "Send either `emails` or `ids`." });
  })
  .transform(({ emails = [], ids = [] }): SuppressionName[] => [
    ...emails.map((address) => ({ address })),
    ...ids.map((id) => ({ id })),
  ]);

/** The query of `GET /api/suppressions`. */
export const SuppressionListQuery = listQuery({
  origin: z.enum(SUPPRESSION_ORIGINS, `Must be one of ${SUPPRESSION_ORIGINS.join(", ")}.`).optional(),
});

/** Parses the last segment of a path: the id of a suppression, or its address. The segment is already percent-decoded. */
export function readSuppressionName(text: string): SuppressionName {
  if (isId(text)) return { id: text };
  const read = parseMailbox(text);
  if (read.ok) return { address: read.mailbox.address };
  throw new AppError(
    "invalid_parameter",
    `Invalid \`id\` in the path: it must be the UUID of a suppression or an address. ${read.fault}`,
  );
}
