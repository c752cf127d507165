import { z } from "zod";
import { getSuppression, listSuppressions } from "#server/services/suppressions/read";
import { removeSuppression, removeSuppressions } from "#server/services/suppressions/remove";
import { addSuppressions } from "#server/services/suppressions/suppress";
import { exportSuppressions, importSuppressions } from "#server/services/suppressions/transfer";
import { changed, deleted, listOf } from "#server/shared/wire/shapes";
import { presentSuppression, SuppressionResponse } from "#server/shared/wire/suppression";
import { listJson, rejectTwoCursors } from "./pipeline/query";
import { withApi } from "./pipeline/route";
import {
  AddSuppressionBody,
  AddSuppressionsBody,
  RemoveSuppressionsBody,
  readSuppressionName,
  SuppressionListQuery,
} from "./wire/suppression-input";

const ID_OR_ADDRESS = {
  id: "The id of the entry, or the email address, percent-encoded.",
};

/** An address that is already suppressed keeps its id and its origin. */
export const postSuppression = withApi(
  {
    method: "POST",
    path: "/api/suppressions",
    access: { scope: "suppressions:write" },
    tier: "other",
    summary: "Add an address to the suppression list",
    status: 201,
    body: AddSuppressionBody,
    example: { body: { email: "gone@example.com" } },
    response: changed("suppression"),
  },
  async ({ ctx, body }) => {
    const [id = ""] = (await addSuppressions(ctx, [body.email])).ids;
    return { body: { object: "suppression", id } } as const;
  },
);

export const getSuppressions = withApi(
  {
    method: "GET",
    path: "/api/suppressions",
    access: { scope: "suppressions:read" },
    tier: "other",
    summary: "List suppressed addresses, newest first",
    query: SuppressionListQuery,
    example: { query: { origin: "manual", limit: "20" } },
    response: listOf(SuppressionResponse),
  },
  async ({ ctx, query }) => {
    rejectTwoCursors(query);
    const { rows, hasMore } = await listSuppressions(ctx, query);
    return { body: listJson(rows.map(presentSuppression), hasMore) };
  },
);

export const getOneSuppression = withApi(
  {
    method: "GET",
    path: "/api/suppressions/{id}",
    access: { scope: "suppressions:read" },
    tier: "other",
    summary: "Get a suppression by its id or address",
    params: ID_OR_ADDRESS,
    response: z.object({ object: z.literal("suppression"), ...SuppressionResponse.shape }),
  },
  async ({ ctx, params }) => {
    const found = await getSuppression(ctx, readSuppressionName(params));
    return { body: { object: "suppression", ...presentSuppression(found) } } as const;
  },
);

export const deleteOneSuppression = withApi(
  {
    method: "DELETE",
    path: "/api/suppressions/{id}",
    access: { scope: "suppressions:write" },
    tier: "other",
    summary: "Remove an address from the suppression list, by id or address",
    params: ID_OR_ADDRESS,
    response: deleted("suppression"),
  },
  async ({ ctx, params }) => ({
    body: deletedJson(await removeSuppression(ctx, readSuppressionName(params))),
  }),
);

export const postSuppressionsAdd = withApi(
  {
    method: "POST",
    path: "/api/suppressions/batch/add",
    access: { scope: "suppressions:write" },
    tier: "other",
    summary: "Add up to 100 addresses to the suppression list",
    status: 201,
    body: AddSuppressionsBody,
    example: { body: { emails: ["gone@example.com", "moved@example.com"] } },
    response: z.object({ data: z.array(changed("suppression")) }),
  },
  async ({ ctx, body }) => {
    const { ids } = await addSuppressions(ctx, body.emails);
    return { body: { data: ids.map((id) => ({ object: "suppression" as const, id })) } };
  },
);

/** Returns the removed entries. Addresses and ids that were not on the list are omitted. */
export const postSuppressionsRemove = withApi(
  {
    method: "POST",
    path: "/api/suppressions/batch/remove",
    access: { scope: "suppressions:write" },
    tier: "other",
    summary: "Remove up to 100 addresses from the suppression list, by ids or addresses",
    body: RemoveSuppressionsBody,
    example: { body: { emails: ["gone@example.com"] } },
    response: z.object({ data: z.array(deleted("suppression")) }),
  },
  async ({ ctx, body }) => ({ body: { data: (await removeSuppressions(ctx, body)).map(deletedJson) } }),
);

export const getSuppressionsCsv = withApi(
  {
    method: "GET",
    path: "/api/suppressions/csv",
    access: { scope: "suppressions:read" },
    tier: "other",
    summary: "Download the suppression list as CSV, oldest first",
    responseType: "text/csv; charset=utf-8; header=present",
  },
  async ({ ctx }) => ({ stream: exportSuppressions(ctx), filename: "suppressions.csv" }),
);

/**
 * Reads addresses from the first column, or from the column `email` if the first line is a header. The header may also name
 * `origin` (or `reason`), `source_id` and `lists_only`. All valid lines are added in one transaction.
 */
export const postSuppressionsCsv = withApi(
  {
    method: "POST",
    path: "/api/suppressions/csv",
    access: { scope: "suppressions:write" },
    tier: "other",
    summary: "Import suppressed addresses from a CSV file of up to 100,000 lines",
    accepts: "text/csv",
    ifTooLarge: "Split the file.",
    example: { body: "email,origin\ngone@example.com,bounce\nmoved@example.com,manual\n" },
    response: z.object({
      object: z.literal("suppression_import"),
      added: z.int(),
      existing: z.int(),
      faulty: z.int(),
      faults: z.array(z.object({ line: z.int(), message: z.string() })).describe("The first invalid lines."),
    }),
  },
  async ({ ctx, bytes }) => {
    const { added, existing, faulty, faults } = await importSuppressions(ctx, bytes);
    return { body: { object: "suppression_import" as const, added, existing, faulty, faults } };
  },
);

const deletedJson = ({ id }: { id: string }) => ({ object: "suppression", id, deleted: true }) as const;
