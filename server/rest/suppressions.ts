import { z } from "zod";
import { SUPPRESSION_ORIGINS } from "#db/schema/suppressions";
import { parseMailbox } from "#server/mail/address/address";
import { AppError } from "#server/platform/errors";
import { isId } from "#server/platform/ids";
import { AddressText } from "#server/services/emails/read/filter";
import { absent } from "#server/services/fields";
import { getSuppression, listSuppressions, type SuppressionName } from "#server/services/suppressions/read";
import {
  addSuppressions,
  removeSuppression,
  removeSuppressions,
} from "#server/services/suppressions/suppress";
import { exportSuppressions, importSuppressions } from "#server/services/suppressions/transfer";
import { changed, deleted, listOf, presentDeleted } from "#server/shared/wire/shapes";
import { presentSuppression, SuppressionResponse } from "#server/shared/wire/suppression";
import { listJson, listQuery } from "./pipeline/query";
import { withApi } from "./pipeline/route";

const batchMax = 100;

const list = <T extends z.ZodType>(item: T, what: string) =>
  z.preprocess(
    absent,
    z
      .array(item, `Must be an array of 1 to ${batchMax} ${what}.`)
      .max(batchMax, `At most ${batchMax} ${what} per call.`),
  );
const Addresses = list(AddressText, "addresses");
const Ids = list(z.string("Must be a string.").refine(isId, "Must be the id of a suppression."), "ids");

/** The body of `POST /api/suppressions`. */
export const AddSuppressionBody = z.strictObject({
  email: z.preprocess(absent, AddressText).describe("The address."),
});

/** The body of `POST /api/suppressions/batch/add`. */
export const AddSuppressionsBody = z.strictObject({ emails: Addresses.describe("1 to 100 addresses.") });

/** The body of `POST /api/suppressions/batch/remove`: either `emails` or `ids`. */
export const RemoveSuppressionsBody = z
  .strictObject({
    emails: Addresses.optional().describe("1 to 100 addresses."),
    ids: Ids.optional().describe("1 to 100 ids of entries, in place of `emails`."),
  })
  .superRefine(({ emails, ids }, refine) => {
    if ((emails === undefined) === (ids === undefined)) refine.addIssue("Send either `emails` or `ids`.");
  })
  .transform(({ emails = [], ids = [] }): SuppressionName[] => [
    ...emails.map((address) => ({ address })),
    ...ids.map((id) => ({ id })),
  ]);

/** The query of `GET /api/suppressions`. */
export const SuppressionListQuery = listQuery({
  origin: z
    .enum(SUPPRESSION_ORIGINS, `Must be one of ${SUPPRESSION_ORIGINS.join(", ")}.`)
    .optional()
    .describe("Why the address is on the list."),
});

/**
 * Parses the last segment of a path: the id of a suppression, or its address. The segment is already
 * percent-decoded.
 */
export function parseSuppressionName(text: string): SuppressionName {
  if (isId(text)) return { id: text };
  const read = parseMailbox(text);
  if (read.ok) return { address: read.mailbox.address };
  throw new AppError(
    "invalid_parameter",
    `Invalid \`id\` in the path: it must be the UUID of a suppression or an address. ${read.fault}`,
  );
}

const ID_OR_ADDRESS = {
  id: "The id of the entry, or the email address, percent-encoded.",
};

export const suppressionRoutes = [
  /** An address that is already suppressed keeps its id and its origin. */
  withApi({
    route: "POST /api/suppressions",
    access: { scope: "suppressions:write" },
    summary: "Add an address to the suppression list",
    status: 201,
    body: AddSuppressionBody,
    example: { body: { email: "gone@example.com" } },
    response: changed("suppression"),
    handle: async ({ ctx, body }) => {
      const [id = ""] = (await addSuppressions(ctx, [body.email])).ids;
      return { object: "suppression" as const, id };
    },
  }),
  withApi({
    route: "GET /api/suppressions",
    access: { scope: "suppressions:read" },
    summary: "List suppressed addresses, newest first",
    query: SuppressionListQuery,
    example: { query: { origin: "manual", limit: "20" } },
    response: listOf(SuppressionResponse),
    handle: async ({ ctx, query }) => listJson(await listSuppressions(ctx, query), presentSuppression),
  }),
  withApi({
    route: "GET /api/suppressions/{id}",
    access: { scope: "suppressions:read" },
    summary: "Get a suppression by its id or address",
    params: ID_OR_ADDRESS,
    response: z.object({ object: z.literal("suppression"), ...SuppressionResponse.shape }),
    handle: async ({ ctx, params }) => {
      const found = await getSuppression(ctx, parseSuppressionName(params.id));
      return { object: "suppression" as const, ...presentSuppression(found) };
    },
  }),
  withApi({
    route: "DELETE /api/suppressions/{id}",
    access: { scope: "suppressions:write" },
    summary: "Remove an address from the suppression list, by id or address",
    params: ID_OR_ADDRESS,
    response: deleted("suppression"),
    handle: async ({ ctx, params }) =>
      presentDeleted("suppression", await removeSuppression(ctx, parseSuppressionName(params.id))),
  }),
  withApi({
    route: "POST /api/suppressions/batch/add",
    access: { scope: "suppressions:write" },
    summary: "Add up to 100 addresses to the suppression list",
    status: 201,
    body: AddSuppressionsBody,
    example: { body: { emails: ["gone@example.com", "moved@example.com"] } },
    response: z.object({ data: z.array(changed("suppression")) }),
    handle: async ({ ctx, body }) => {
      const { ids } = await addSuppressions(ctx, body.emails);
      return { data: ids.map((id) => ({ object: "suppression" as const, id })) };
    },
  }),
  /** Returns the removed entries. Addresses and ids that were not on the list are omitted. */
  withApi({
    route: "POST /api/suppressions/batch/remove",
    access: { scope: "suppressions:write" },
    summary: "Remove up to 100 addresses from the suppression list, by ids or addresses",
    body: RemoveSuppressionsBody,
    example: { body: { emails: ["gone@example.com"] } },
    response: z.object({ data: z.array(deleted("suppression")) }),
    handle: async ({ ctx, body }) => ({
      data: (await removeSuppressions(ctx, body)).map((entry) => presentDeleted("suppression", entry)),
    }),
  }),
  withApi({
    route: "GET /api/suppressions/csv",
    access: { scope: "suppressions:read" },
    summary: "Download the suppression list as CSV, oldest first",
    responseType: "text/csv; charset=utf-8; header=present",
    handle: async ({ ctx }) => ({ stream: exportSuppressions(ctx), filename: "suppressions.csv" }),
  }),
  /**
   * Reads addresses from the first column, or from the column `email` if the first line is a header. The
   * header may also name `origin` (or `reason`), `source_id`, `lists_only`, `lists` and `created_at`. All
   * valid lines are added in one transaction.
   */
  withApi({
    route: "POST /api/suppressions/csv",
    access: { scope: "suppressions:write" },
    summary: "Import suppressed addresses from a CSV file of up to 100,000 lines",
    accepts: "text/csv",
    ifTooLarge: "Split the file.",
    example: { body: "email,origin\ngone@example.com,bounce\nmoved@example.com,manual\n" },
    response: z.object({
      object: z.literal("suppression_import"),
      added: z.int().describe("New addresses."),
      added_by_origin: z.object({
        bounce: z.int(),
        complaint: z.int(),
        unsubscribe: z.int(),
        manual: z.int(),
      }),
      changed: z.int().describe("Addresses that were suppressed for some email only, and now for more."),
      existing: z.int().describe("Addresses that were suppressed before, and stay as they were."),
      repeated: z.int().describe("Lines with the address of another line."),
      unknown_reasons: z.int().describe("Lines whose reason is not known. They have the origin `manual`."),
      unread_dates: z.int().describe("Lines whose date cannot be read. They have the time of the import."),
      faulty: z.int().describe("Invalid lines. They are not imported."),
      faults: z.array(z.object({ line: z.int(), message: z.string() })).describe("The first invalid lines."),
    }),
    handle: async ({ ctx, bytes }) => {
      const { addedBy, unknownReasons, unreadDates, ...counts } = await importSuppressions(ctx, bytes);
      return {
        object: "suppression_import" as const,
        ...counts,
        added_by_origin: addedBy,
        unknown_reasons: unknownReasons,
        unread_dates: unreadDates,
      };
    },
  }),
];
