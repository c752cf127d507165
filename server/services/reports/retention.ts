import type { HotSql } from "#db/client";

/** What reports say is kept this long: the month that is shown, and some days for late ones. */
export const keptDays = 35;

const batch = 10_000;

/** Deletes a batch of old reports and of their counts. */
export async function deleteOldReports(hot: HotSql): Promise<void> {
  await hot`
    delete from domain_report_counts where ctid = any(array(
      select ctid from domain_report_counts where day < current_date - ${keptDays}::int limit ${batch}))`;
  await hot`
    delete from domain_reports where ctid = any(array(
      select ctid from domain_reports where received_at < now() - ${keptDays} * interval '1 day' limit ${batch}))`;
}
