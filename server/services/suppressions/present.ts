import type { suppressions } from "#db/schema/suppressions";

export type Suppression = Omit<typeof suppressions.$inferSelect, "teamId">;

/** The form in which webhooks and answers tell of one. */
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
