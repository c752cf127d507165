-- No scan and no new index: both indexes exist. Release 0.2.0 finds rows by "deliveries_id_idx", and the deliveries of an
-- email by the new key instead of "deliveries_email_idx".
ALTER TABLE "deliveries" DROP CONSTRAINT "deliveries_pkey";--> statement-breakpoint
ALTER TABLE "deliveries" ADD CONSTRAINT "deliveries_team_id_email_id_id_pk" PRIMARY KEY USING INDEX "deliveries_team_id_email_id_id_pk";--> statement-breakpoint
DROP INDEX "deliveries_email_idx";
