import type { HotSql } from "#db/client";

/** Lets a day pass for all that waits, and for what was counted or grows by the day. */
export async function elapseDay(hot: HotSql): Promise<void> {
  await hot.begin(async (tx) => {
    await tx`update sending_days set day = day - 1`;
    await tx`update domains set warm_up_from = warm_up_from - 1`;
    // An hour more, over which the next day's mail is spread.
    await tx`update deliveries set counted_on = counted_on - 1, due_at = due_at - interval '25 hours'`;
  });
}
