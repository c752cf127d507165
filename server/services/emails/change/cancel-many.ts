import type { Ctx } from "#server/deps";
import { AppError } from "#server/platform/errors";
import { cancelEmail } from "./change";

/** Cancels scheduled emails one by one. Those that can no longer be canceled are returned with the reason. */
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
