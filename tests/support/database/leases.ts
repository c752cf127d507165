import type { Sql } from "postgres";
import type { DeliveryStage } from "#db/schema/deliveries";
import { newId } from "#server/platform/ids";

/** Leases the waiting deliveries of an email for a minute, as if a worker had claimed or handed them over. */
export const leaseEmail = (sql: Sql, emailId: string, stage: DeliveryStage = "handed_over") => sql`
  update queue set stage = ${stage}, attempts = attempts + 1, lease_token = ${newId()}, due_at = now() + interval '1 min'
  where email_id = ${emailId}`;

/** Lets every lease expire. */
export const expireLeases = (sql: Sql) => sql`
  update queue set due_at = now() - interval '1 s' where lease_token is not null`;

/** Ends the leases of an email: its deliveries have this status. */
export const endLeases = async (sql: Sql, emailId: string, status: string) => {
  await sql`delete from queue where email_id = ${emailId}`;
  await sql`update deliveries set status = ${status} where email_id = ${emailId}`;
};
