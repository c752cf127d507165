import type { Db } from "#db/client";
import type { Ctx } from "#server/deps";

/**
 * Runs a transaction that changes keys or their links. After it returns, this process no longer accepts the
 * previous state.
 */
export async function changeKeys<T>(ctx: Ctx, task: (tx: Db) => Promise<T>): Promise<T> {
  try {
    return await ctx.db.transaction(task);
  } finally {
    // Also after a failure: the response to COMMIT may have been lost.
    ctx.clearKeyCache();
  }
}
