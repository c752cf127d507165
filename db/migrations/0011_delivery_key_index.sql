DROP INDEX CONCURRENTLY IF EXISTS "deliveries_team_id_email_id_id_pk";--> statement-breakpoint
CREATE UNIQUE INDEX CONCURRENTLY "deliveries_team_id_email_id_id_pk" ON "deliveries" USING btree ("team_id","email_id","id");--> statement-breakpoint
DROP INDEX CONCURRENTLY IF EXISTS "deliveries_id_idx";--> statement-breakpoint
CREATE INDEX CONCURRENTLY "deliveries_id_idx" ON "deliveries" USING btree ("id");
