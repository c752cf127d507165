import { z } from "zod";
import { SUPPRESSION_ORIGINS } from "#db/schema/suppressions";
import { addSuppressions } from "#server/services/suppressions/add";
import { suppressionJson } from "#server/services/suppressions/present";
import { getSuppression, listSuppressions } from "#server/services/suppressions/read";
import { removeSuppression, removeSuppressions } from "#server/services/suppressions/remove";
import { exportSuppressions, importSuppressions } from "#server/services/suppressions/transfer";
import { listJson, refuseTwoCursors } from "./query";
import { withApi } from "./route";
import { changed, deleted, Id, listOf, Time } from "./wire/shapes";
import {
  AddSuppressionBody,
  AddSuppressionsBody,
  RemoveSuppressionsBody,
  readSuppressionName,
  SuppressionListQuery,
} from "./wire/suppression-input";

const ID_OR_ADDRESS = {
  id: "The id of the entry, or the address with its special characters percent-encoded.",
};

const SuppressionAnswer = z
  .object({
    id: Id,
    email: z.string(),
    origin: z.enum(SUPPRESSION_ORIGINS),
    source_id: Id.nullable().describe("The mail that showed it."),
    lists_only: z
      .boolean()
      .describe("By the link in a mail: blocks only mail that offers to unsubscribe (`list_unsubscribe`)."),
    created_at: Time,
  })
  .meta({ id: "Suppression" });

/** An address that is there already keeps its id and its origin. */
export const postSuppression = withApi(
  {
    method: "POST",
    path: "/api/suppressions",
    access: { scope: "suppressions:write" },
    tier: "other",
    summary: "Put an address on the list of those that no mail goes to",
    status: 201,
    body: AddSuppressionBody,
    example: { body: { email: "gone@example.com" } },
    answer: changed("suppression"),
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
    summary: "List the addresses that no mail goes to, newest first",
    query: SuppressionListQuery,
    example: { query: { origin: "manual", limit: "20" } },
    answer: listOf(SuppressionAnswer),
  },
  async ({ ctx, query }) => {
    refuseTwoCursors(query);
    const { rows, hasMore } = await listSuppressions(ctx, query);
    return { body: listJson(rows.map(suppressionJson), hasMore) };
  },
);

export const getOneSuppression = withApi(
  {
    method: "GET",
    path: "/api/suppressions/{id}",
    access: { scope: "suppressions:read" },
    tier: "other",
    summary: "Show why an address is on the list, by its id or by itself",
    params: ID_OR_ADDRESS,
    answer: z.object({ object: z.literal("suppression"), ...SuppressionAnswer.shape }),
  },
  async ({ ctx, params }) => {
    const found = await getSuppression(ctx, readSuppressionName(params));
    return { body: { object: "suppression", ...suppressionJson(found) } } as const;
  },
);

export const deleteOneSuppression = withApi(
  {
    method: "DELETE",
    path: "/api/suppressions/{id}",
    access: { scope: "suppressions:write" },
    tier: "other",
    summary: "Take an address off the list, by its id or by itself",
    params: ID_OR_ADDRESS,
    answer: deleted("suppression"),
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
    summary: "Put up to 100 addresses on the list at once",
    status: 201,
    body: AddSuppressionsBody,
    example: { body: { emails: ["gone@example.com", "moved@example.com"] } },
    answer: z.object({ data: z.array(changed("suppression")) }),
  },
  async ({ ctx, body }) => {
    const { ids } = await addSuppressions(ctx, body.emails);
    return { body: { data: ids.map((id) => ({ object: "suppression" as const, id })) } };
  },
);

/** Tells those that were taken off; what was not on the list is none of them. */
export const postSuppressionsRemove = withApi(
  {
    method: "POST",
    path: "/api/suppressions/batch/remove",
    access: { scope: "suppressions:write" },
    tier: "other",
    summary: "Take up to 100 addresses off the list at once, by ids or by themselves",
    body: RemoveSuppressionsBody,
    example: { body: { emails: ["gone@example.com"] } },
    answer: z.object({ data: z.array(deleted("suppression")) }),
  },
  async ({ ctx, body }) => ({ body: { data: (await removeSuppressions(ctx, body)).map(deletedJson) } }),
);

export const getSuppressionsCsv = withApi(
  {
    method: "GET",
    path: "/api/suppressions/csv",
    access: { scope: "suppressions:read" },
    tier: "other",
    summary: "Download the whole list as CSV, oldest first",
    answers: "text/csv; charset=utf-8; header=present",
  },
  async ({ ctx }) => ({ stream: exportSuppressions(ctx), filename: "suppressions.csv" }),
);

/** The first column, or the one that the first line calls `email`; all readable lines are added together. */
export const postSuppressionsCsv = withApi(
  {
    method: "POST",
    path: "/api/suppressions/csv",
    access: { scope: "suppressions:write" },
    tier: "other",
    summary: "Put the addresses of a CSV file on the list, up to 100,000 lines",
    accepts: "text/csv",
    ifTooLarge: "Cut the file into several.",
    example: { body: "email\ngone@example.com\nmoved@example.com\n" },
    answer: z.object({
      object: z.literal("suppression_import"),
      added: z.int(),
      existing: z.int(),
      faulty: z.int(),
      faults: z.array(z.object({ line: z.int(), message: z.string() })).describe("The first faulty lines."),
    }),
  },
  async ({ ctx, bytes }) => {
    const { added, existing, faulty, faults } = await importSuppressions(ctx, bytes);
    return { body: { object: "suppression_import" as const, added, existing, faulty, faults } };
  },
);

const deletedJson = ({ id }: { id: string }) => ({ object: "suppression", id, deleted: true }) as const;
