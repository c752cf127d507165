import type { SuppressionRow, suppressions } from "#db/schema/suppressions";

export type Suppression = Omit<typeof suppressions.$inferSelect, "teamId">;

export const readSuppression = (row: SuppressionRow): Suppression => ({
  id: row.id,
  address: row.address,
  origin: row.origin,
  sourceEmailId: row.source_email_id,
  listsOnly: row.lists_only,
  createdAt: new Date(row.created_at),
});

/** A suppression as in webhooks and API responses. */
export function suppressionJson({ id, address, origin, sourceEmailId, listsOnly, createdAt }: Suppression) {
  return {
    id,
    email: address,
    origin,
    source_id: sourceEmailId,
    lists_only: listsOnly,
    created_at: createdAt.toISOString(),
  };
}
