import { z } from "zod";
import { SUPPRESSION_ORIGINS } from "#db/schema/suppressions";
import { AppError } from "#server/errors";
import { isId } from "#server/ids";
import { parseMailbox } from "#server/mail/address";
import { absent, MailboxText } from "#server/services/emails/message-input";
import type { SuppressionName } from "#server/services/suppressions/read";
import { PAGING } from "../query";

const batchMax = 100;

const Address = MailboxText.transform(({ address }) => address);
const list = <T extends z.ZodType>(item: T, what: string) =>
  z.preprocess(
    absent,
    z
      .array(item, `Must be an array of 1 to ${batchMax} ${what}.`)
      .max(batchMax, `At most ${batchMax} ${what} in one call.`),
  );
const Addresses = list(Address, "addresses");
const Ids = list(z.string("Must be a string.").refine(isId, "Must be the id of a suppression."), "ids");

/** The body of `POST /api/suppressions`. */
export const AddSuppressionBody = z.strictObject({ email: z.preprocess(absent, Address) });

/** The body of `POST /api/suppressions/batch/add`. */
export const AddSuppressionsBody = z.strictObject({ emails: Addresses });

/** The body of `POST /api/suppressions/batch/remove`: either way of naming, and one of them. */
export const RemoveSuppressionsBody = z
  .strictObject({ emails: Addresses.optional(), ids: Ids.optional() })
  .superRefine(({ emails, ids }, refine) => {
    if ((emails === undefined) === (ids === undefined))
      refine.addIssue({ code: "custom", message: "Give `emails` or `ids`, one of the two." });
  })
  .transform(({ emails = [], ids = [] }): SuppressionName[] => [
    ...emails.map((address) => ({ address })),
    ...ids.map((id) => ({ id })),
  ]);

/** The query of `GET /api/suppressions`. */
export const SuppressionListQuery = z.strictObject({
  ...PAGING,
  origin: z.enum(SUPPRESSION_ORIGINS, `Must be one of ${SUPPRESSION_ORIGINS.join(", ")}.`).optional(),
});

/** What the last segment of a path names: an id, or an address with its special characters percent-encoded. */
export function readSuppressionName({ id: text = "" }: Record<string, string>): SuppressionName {
  if (isId(text)) return { id: text };
  const read = parseMailbox(text);
  if (read.ok) return { address: read.mailbox.address };
  throw new AppError(
    "invalid_parameter",
    `Invalid \`id\` in the path: it must be the UUID of a suppression or an address. ${read.fault}`,
  );
}
