import type { Ctx } from "#server/deps";
import { AppError } from "#server/errors";
import { cancelEmail } from "./change";

/** Calls scheduled mails off, each by itself: those that cannot be any more are told with the reason. */
export async function cancelSelected(
  ctx: Ctx,
  ids: readonly string[],
): Promise<{ canceled: string[]; refused: { id: string; why: string }[] }> {
  const canceled: string[] = [];
  const refused: { id: string; why: string }[] = [];
  for (const id of ids) {
    try {
      await cancelEmail(ctx, id);
      canceled.push(id);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      refused.push({ id, why: error.message });
    }
  }
  return { canceled, refused };
}
