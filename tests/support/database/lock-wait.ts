import { expect } from "vitest";
import type { HotSql } from "#db/client";

/** Waits until a transaction in this database waits for a row lock of another one. */
export async function waitForLock(hot: HotSql): Promise<void> {
  const waiting = async () => {
    const rows = await hot`
      select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    return rows.length;
  };
  await expect.poll(waiting, { timeout: 30_000, interval: 20 }).toBeGreaterThan(0);
}
