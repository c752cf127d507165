import { z } from "zod";
import { SUPPRESSION_ORIGINS, type SuppressionRow, type suppressions } from "#db/schema/suppressions";
import { Id, present, Time } from "./shapes";

/** An entry of a team's suppression list. */
export type Suppression = Omit<typeof suppressions.$inferSelect, "teamId">;

/** An entry that SQL returned as JSON. */
export const suppressionOf = (row: SuppressionRow): Suppression => ({
  id: row.id,
  address: row.address,
  origin: row.origin,
  sourceEmailId: row.source_email_id,
  listsOnly: row.lists_only,
  lists: row.lists ?? null,
  createdAt: new Date(row.created_at),
});

export const SuppressionResponse = z
  .object({
    id: Id,
    email: z.string(),
    origin: z.enum(SUPPRESSION_ORIGINS),
    source_id: Id.nullable().describe(
      "The email that bounced, was marked as spam, or had the unsubscribe link.",
    ),
    lists_only: z
      .boolean()
      .describe("True for an unsubscribe by link: blocks only email sent with `list_unsubscribe`."),
    lists: z
      .array(z.string())
      .nullable()
      .describe("With `lists_only`: the names of the lists that it blocks; null: all of them."),
    created_at: Time,
  })
  .meta({ id: "Suppression" });

/** An entry as in API responses, webhooks and the console. */
export const presentSuppression = (entry: Suppression) =>
  present(SuppressionResponse, entry, { email: entry.address, source_id: entry.sourceEmailId });
