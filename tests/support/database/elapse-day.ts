import type { HotSql } from "#db/client";

/** Advances everything that is due, counted or increased by the day by one day. */
export async function elapseDay(hot: HotSql): Promise<void> {
  await hot.begin(async (tx) => {
    // In two steps: the key is checked for each row, and today's row may be moved before yesterday's.
    await tx`update sending_days set day = day - 1001`;
    await tx`update sending_days set day = day + 1000`;
    await tx`update domains set warm_up_from = warm_up_from - 1`;
    // One more hour, because the email of the next day is spread over an hour.
    await tx`update deliveries set counted_on = counted_on - 1, due_at = due_at - interval '25 hours'`;
  });
}
