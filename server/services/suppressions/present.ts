import type { suppressions } from "#db/schema/suppressions";

export type Suppression = Omit<typeof suppressions.$inferSelect, "teamId">;

/** The form in which webhooks and answers tell of one. */
export function suppressionJson({ id, address, origin, sourceEmailId, createdAt }: Suppression) {
  return { id, email: address, origin, source_id: sourceEmailId, created_at: createdAt.toISOString() };
}
