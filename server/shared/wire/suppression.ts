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
  createdAt: new Date(row.created_at),
});

export const SuppressionResponse = z
  .object({
    id: Id,
    email: z.string(),
    origin: z.enum(SUPPRESSION_ORIGINS),
    source_id: Id.nullable().describe("The email that bounced or was marked as spam."),
    lists_only: z
      .boolean()
      .describe("True for an unsubscribe by link: blocks only email sent with `list_unsubscribe`."),
    created_at: Time,
  })
  .meta({ id: "Suppression" });

/** An entry as in API responses, webhooks and the console. */
export const presentSuppression = (entry: Suppression) =>
  present(SuppressionResponse, entry, { email: entry.address, source_id: entry.sourceEmailId });
